//! hyper's own client without TLS, on one thread.

use hyper::body::HttpBody;
use hyper::{Client, Uri};
use rust_peers::{parse, run, unsupported, Operation};
use std::rc::Rc;

fn main() {
    let options = parse();
    let operation = options.operation;
    if options.gzip || options.http2 || options.url.starts_with("https:") || !matches!(operation, Operation::Get | Operation::Download) {
        unsupported("anything but plain GET")
    }
    let mut connector = hyper::client::HttpConnector::new();
    connector.set_nodelay(true);
    let client = Client::builder().build::<_, hyper::Body>(connector);
    let urls: Rc<[Uri]> = options.urls().into();
    run(&options, "hyper 0.14", move |origin| {
        let request = client.get(urls[origin].clone());
        async move {
            let mut response = request.await?;
            if operation == Operation::Get {
                return hyper::body::to_bytes(response.into_body()).await.map(|bytes| bytes.len() as u64);
            }
            let mut count = 0;
            while let Some(bytes) = response.data().await {
                count += bytes?.len() as u64;
            }
            Ok::<u64, hyper::Error>(count)
        }
    })
}
