//! The Lambda of `/v1/app-store`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    lambda::serve(app_store::routes()).await
}
