//! The Lambda of `/v1/auth`.

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), lambda_runtime::Error> {
    lambda::serve(auth::routes()).await
}
