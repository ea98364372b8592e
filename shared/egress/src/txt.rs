//! TXT records (RFC 1035 §3.3.14), by which the owner of a name proves it.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::proto::rr::RData;

use super::SendError;

/// Time for a lookup with all its tries.
const DEADLINE: Duration = Duration::from_secs(3);
/// Time for one try of one name server.
const TRY: Duration = Duration::from_secs(1);
/// The most records that are read: a name for this purpose alone has fewer.
const MOST: usize = 32;
/// The most bytes of a record that are read.
const LONGEST: usize = 512;

/// The result of [`ResolveTxt::txt`]: the text of each record, its strings joined.
pub type Texts<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<String>>> + Send + 'a>>;

/// Resolves TXT records.
pub trait ResolveTxt: Send + Sync {
    /// The texts of a name; none if the name does not exist.
    fn txt<'a>(&'a self, name: &'a str) -> Texts<'a>;
}

/// The name servers of the operating system. They are queried anew each time, so that a new record is
/// found at once.
#[derive(Default)]
pub struct NameServers(OnceLock<Option<TokioResolver>>);

impl NameServers {
    fn resolver(&self) -> io::Result<&TokioResolver> {
        let make = || {
            let mut builder = TokioResolver::builder_tokio().ok()?;
            let options = builder.options_mut();
            options.timeout = TRY;
            options.attempts = 2;
            options.cache_size = 0;
            builder.build().ok()
        };
        self.0.get_or_init(make).as_ref().ok_or_else(|| io::Error::other("no name servers"))
    }
}

impl ResolveTxt for NameServers {
    fn txt<'a>(&'a self, name: &'a str) -> Texts<'a> {
        Box::pin(async move {
            // The trailing dot makes the name absolute: no search domain is added.
            let found = match self.resolver()?.txt_lookup(format!("{name}.")).await {
                Ok(found) => found,
                Err(error) if error.is_no_records_found() => return Ok(Vec::new()),
                Err(error) => return Err(io::Error::other(error)),
            };
            let text = |data: &RData| match data {
                RData::TXT(txt) => {
                    let bytes: Vec<u8> = txt.txt_data.iter().flatten().copied().collect();
                    String::from_utf8(bytes).ok()
                }
                _ => None,
            };
            Ok(found.answers().iter().filter_map(|record| text(&record.data)).collect())
        })
    }
}

/// The texts of a name, limited in number and length.
pub(super) async fn resolve_txt(
    names: &dyn ResolveTxt,
    name: &str,
) -> Result<Vec<String>, SendError> {
    let answer = tokio::time::timeout(DEADLINE, names.txt(name)).await;
    let Ok(Ok(mut texts)) = answer else { return Err(SendError::Dns) };
    texts.retain(|text| text.len() <= LONGEST);
    texts.truncate(MOST);
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Answers(Vec<String>);

    impl ResolveTxt for Answers {
        fn txt<'a>(&'a self, name: &'a str) -> Texts<'a> {
            Box::pin(async move {
                match name {
                    "hangs.example" => std::future::pending().await,
                    "fails.example" => Err(io::Error::other("SERVFAIL")),
                    _ => Ok(self.0.clone()),
                }
            })
        }
    }

    #[tokio::test]
    async fn an_answer_is_bounded_in_time_in_number_and_in_length() {
        let long = "x".repeat(LONGEST + 1);
        let names = Answers([long].into_iter().chain((0..100).map(|n| n.to_string())).collect());
        let found = resolve_txt(&names, "a.example").await.unwrap();
        assert_eq!((found.len(), found.first().map(String::as_str)), (MOST, Some("0")));
        for name in ["hangs.example", "fails.example"] {
            assert_eq!(resolve_txt(&names, name).await, Err(SendError::Dns), "{name}");
        }
    }
}
