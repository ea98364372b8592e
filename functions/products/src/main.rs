//! The Lambda function of `/v1/products` and the other commerce administration.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    lambda::serve(products::routes()).await
}
