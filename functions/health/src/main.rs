//! The Lambda of `GET /health` and of `$default`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    lambda::serve_unconnected(health::routes()).await
}
