//! The Lambda function of `/v1/stores`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    lambda::serve(stores::routes()).await
}
