//! The Lambda of the shops' pages.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    lambda::serve_router(shop::router).await
}
