//! The queues of the platform itself, as nobody but SQS and the functions use them.

use crate::Gateway;

impl Gateway {
    /// Puts a message on a queue, by the name that the API has for it, or on its dead-letter queue.
    pub async fn send_to_queue(&self, queue: &str, is_dead: bool, body: &str) {
        let url = self.queue_url(queue, is_dead);
        let sqs = self.system().embedded().sqs();
        sqs.send_message().queue_url(url).message_body(body).send().await.expect("it is sent");
    }

    /// Takes everything off the dead-letter queue of a queue. (SQS purges a queue once a minute at most.)
    pub async fn purge_dead_letters(&self, queue: &str) {
        let url = self.queue_url(queue, true);
        let sqs = self.system().embedded().sqs();
        loop {
            let received = sqs.receive_message().queue_url(&url).max_number_of_messages(10).send();
            let messages = received.await.expect("it is read").messages.unwrap_or_default();
            if messages.is_empty() {
                return;
            }
            for message in messages {
                let receipt = message.receipt_handle.expect("a receipt");
                let delete = sqs.delete_message().queue_url(&url).receipt_handle(receipt);
                delete.send().await.expect("it is deleted");
            }
        }
    }

    fn queue_url(&self, queue: &str, is_dead: bool) -> String {
        let queue = reliability::queues::QUEUES.iter().find(|one| one.name == queue);
        let queue = queue.expect("a queue's name").queue;
        let url = self.app().config.queue_url(queue).clone();
        if is_dead { format!("{url}-dead") } else { url }
    }
}
