//! The Lambda of `/v1/products`, and the one of the rest of the commerce admin.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    lambda::serve(products::routes()).await
}
