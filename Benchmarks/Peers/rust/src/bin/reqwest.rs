//! reqwest with OpenSSL (native-tls), on one thread.

use futures_util::StreamExt;
use reqwest::{Body, Client, Url};
use rust_peers::{die, file_size, parse, run, unsupported, Operation};
use std::error::Error;
use std::fmt;
use std::rc::Rc;
use tokio::fs::File;
use tokio::io::AsyncWriteExt;
use tokio_util::io::ReaderStream;

const READ_BYTES: usize = 128 * 1024;

/// An error with its causes, which reqwest leaves out.
struct Told(Box<dyn Error>);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl<E: Error + 'static> From<E> for Told {
    fn from(error: E) -> Told {
        Told(Box::new(error))
    }
}

fn client(cacert: Option<&str>, http2: bool) -> Client {
    // native-tls takes single certificates only; OpenSSL's own search is directed by the environment.
    if let Some(path) = cacert {
        let is_directory = std::path::Path::new(path).is_dir();
        std::env::set_var("SSL_CERT_FILE", if is_directory { "/dev/null" } else { path });
        std::env::set_var("SSL_CERT_DIR", if is_directory { path } else { "/dev/null" });
    }
    let builder = Client::builder().no_proxy().tcp_nodelay(true);
    let builder = if http2 { builder } else { builder.http1_only() };
    builder.build().unwrap_or_else(|error| die(error))
}

async fn request(client: Client, operation: Operation, url: Url, file: Option<Rc<str>>) -> Result<u64, Told> {
    let path = file.as_deref().unwrap_or_default();
    match operation {
        Operation::Get => {
            let response = client.get(url).send().await?.error_for_status()?;
            Ok(response.bytes().await?.len() as u64)
        }
        Operation::Download => {
            let response = client.get(url).send().await?.error_for_status()?;
            let mut body = response.bytes_stream();
            let mut count = 0;
            while let Some(bytes) = body.next().await {
                count += bytes?.len() as u64;
            }
            Ok(count)
        }
        Operation::Save => {
            let response = client.get(url).send().await?.error_for_status()?;
            let mut body = response.bytes_stream();
            let mut output = File::create(path).await?;
            let mut count = 0;
            while let Some(bytes) = body.next().await {
                let bytes = bytes?;
                count += bytes.len() as u64;
                output.write_all(&bytes).await?;
            }
            output.flush().await?;
            Ok(count)
        }
        Operation::Upload => {
            let size = file_size(path)?;
            let body = Body::wrap_stream(ReaderStream::with_capacity(File::open(path).await?, READ_BYTES));
            let post = client.post(url).header("content-length", size).body(body);
            let response = post.send().await?.error_for_status()?;
            Ok(size + response.bytes().await?.len() as u64)
        }
    }
}

fn main() {
    let options = parse();
    if options.gzip {
        unsupported("gzip, which Debian's reqwest is built without")
    }
    let client = client(options.cacert.as_deref(), options.http2);
    let urls: Rc<[Url]> = options.urls().into();
    let operation = options.operation;
    let file: Option<Rc<str>> = options.file.as_deref().map(Rc::from);
    run(&options, "reqwest 0.11, OpenSSL", move |origin| {
        request(client.clone(), operation, urls[origin].clone(), file.clone())
    })
}
