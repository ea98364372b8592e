//! The least that answers a request: `lambda_http`, and a greeting.

use lambda_http::{Error, Request, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda_http::run(service_fn(|_: Request| async { Ok::<_, Error>("hello") })).await
}
