//! A filter that lets little through costs what is read for it, and a page has a bound.

use std::time::Duration;

use support::{Copy, Gateway, Reply, json};

use super::Front;

/// Read units that a point pays for, in tenths.
const POINT: u32 = 200;
/// Points that reading for a page comes to before it ends.
const MOST: u32 = 20;
/// What a query reads at most: 1 MB, eventually consistent; and what the store and the stock are.
const ONE_QUERY: u32 = 1_300;
/// Bytes of a long tag.
const LONG: usize = 100_000;

/// What a filtered list is charged ahead: `limit=1`.
const AHEAD: u32 = 2;
const NARROW: &str = "/products?limit=1&in_stock=true&tag=none";

impl Front {
    /// As many cards of products as this one more, written beside the API, each with a tag that is this
    /// many bytes when it is deflated.
    async fn multiply(&self, made: &Reply, count: usize, length: usize) {
        for number in 0..count {
            let copy = Copy {
                later: Duration::ZERO,
                title: "Mug".to_owned(),
                handle: format!("copy-{number}"),
                price: None,
                tag: noise(number, length),
                stocked_at: Vec::new(),
            };
            self.gateway.list_copies(&made.str("/id"), &[copy]).await;
        }
    }
}

/// A text of a few bytes more than this many when it is deflated: six bits each of a sequence that
/// nothing repeats (xorshift64).
fn noise(seed: usize, length: usize) -> String {
    let mut state = u64::try_from(seed).unwrap().wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b'0' + u8::try_from(state >> 58).unwrap())
    };
    (0..length * 4 / 3).map(|_| next()).collect()
}

/// An open store with one product, where nothing but the test writes and no time passes.
async fn still() -> (Front, Reply) {
    let gateway = Gateway::start_with(|options| options.has_stream = false).await;
    let front = Front::open_on(gateway).await;
    let made = front.sell("Mug", 500, 3, json!({})).await;
    front.gateway.app().clock.stop();
    (front, made)
}

fn number(reply: &Reply, header: &str) -> u32 {
    reply.header(header).unwrap().parse().unwrap()
}

fn cost(reply: &Reply) -> [u32; 2] {
    ["x-service-cost-requested", "x-service-cost-actual"].map(|name| number(reply, name))
}

#[tokio::test]
async fn filtered_lists_are_charged_for_the_items_read() {
    let (front, made) = still().await;
    front.multiply(&made, 8, LONG).await;
    let first = front.get(NARROW).await.expect(200);
    assert_eq!((first.data().len(), first.at("/page/has_more")), (0, &json!(false)));
    // Eight such tags, at half a unit for 4 KB.
    let read = first.tenths();
    assert!((970..1_100).contains(&read), "{read}");
    let points = read.div_ceil(POINT);
    assert_eq!(cost(&first), [AHEAD, points]);
    assert_eq!(number(&first, "x-service-cost-available"), 300 - points);
    // Served again, nothing is read, and it costs what a list does.
    let kept = front.get(NARROW).await.expect(200);
    assert_eq!((kept.tenths(), cost(&kept)), (0, [AHEAD, AHEAD]));
    assert_eq!(number(&kept, "x-service-cost-available"), 300 - points - AHEAD);
    // Whoever goes on is stopped when that is used up, and not when the charges ahead are.
    let left = 300 - points - AHEAD;
    let mut answered = 0;
    for tag in 0.. {
        let reply = front.get(&format!("/products?limit=1&tag=none-{tag}")).await;
        if reply.status == 429 {
            break;
        }
        let [requested, actual] = cost(&reply.expect(200));
        assert_eq!(requested, AHEAD);
        assert!(actual >= points - 1, "{actual}");
        answered += actual;
    }
    assert!((left - AHEAD..left + points).contains(&answered), "{answered} of {left}");
}

#[tokio::test]
async fn a_page_ends_early_with_a_cursor_at_its_read_limit() {
    let (front, made) = still().await;
    front.multiply(&made, 60, LONG).await;
    let (mut pages, mut path) = (0, NARROW.to_owned());
    loop {
        let page = front.gateway.client().get(&front.path(&path)).await.expect(200);
        assert!(page.data().is_empty());
        let read = page.tenths();
        assert!(read <= MOST * POINT + ONE_QUERY, "{read}");
        assert_eq!(cost(&page)[1], read.div_ceil(POINT).max(AHEAD));
        pages += 1;
        let Some(cursor) = page.at("/page/next_cursor").as_str() else { break };
        assert!(read > (MOST - 1) * POINT, "{read}: the page ends too early");
        path = format!("{NARROW}&cursor={cursor}");
    }
    // Six million bytes are 740 units or so.
    assert_eq!(pages, 2);
    // An order of its own reads no more than is shown, and one to know that there are more.
    let sorted = front.get("/products?limit=1&sort=title").await.expect(200);
    assert_eq!(sorted.data().len(), 1);
    assert!(sorted.tenths() <= 260, "{}", sorted.tenths());
}
