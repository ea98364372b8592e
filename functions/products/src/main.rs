//! The Lambda of `/v1/products`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    gateway::lambda::serve(products::routes()).await
}
