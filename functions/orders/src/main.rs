//! The Lambda of `/v1/orders`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    lambda::serve(orders::routes()).await
}
