//! The Lambda of `/v1/payments`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    lambda::serve(payments::routes()).await
}
