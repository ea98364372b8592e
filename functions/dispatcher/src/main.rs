//! The Lambda behind the table's stream and the one-minute schedule.

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::Value;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let app = lambda::worker().await;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<Value>| {
        let app = app.clone();
        async move { dispatcher::handle(&app, event.payload).await }
    }))
    .await
}
