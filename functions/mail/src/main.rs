//! The Lambda behind the queue of mails.

use aws_lambda_events::event::sqs::SqsEvent;
use lambda_runtime::{Error, LambdaEvent, service_fn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let app = lambda::worker().await;
    lambda_runtime::run(service_fn(move |event: LambdaEvent<SqsEvent>| {
        let app = app.clone();
        async move { Ok::<_, Error>(mail::handle(&app, event.payload).await) }
    }))
    .await
}
