//! The Lambda of `/v1/storefront`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    lambda::serve(storefront::routes()).await
}
