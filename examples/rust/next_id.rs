//! IDs in Rust, with the standard library. It has no HTTP client, but text over HTTP/1.0 takes no more than this.
use std::error::Error;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

fn next_ids(socket: &str, count: usize) -> Result<Vec<i64>, Box<dyn Error>> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    write!(
        stream,
        "GET /next-id?format=text&count={count} HTTP/1.0\r\n\r\n"
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;

    let (head, body) = answer
        .split_once("\r\n\r\n")
        .ok_or("the answer is cut short")?;
    if head.split(' ').nth(1) != Some("200") {
        return Err(body.trim_end().into());
    }
    let ids = body
        .lines()
        .map(str::parse)
        .collect::<Result<Vec<i64>, _>>()?;
    if ids.len() != count || !body.ends_with('\n') {
        return Err("the answer is cut short".into());
    }
    Ok(ids)
}

fn next_id(socket: &str) -> Result<i64, Box<dyn Error>> {
    Ok(next_ids(socket, 1)?[0])
}

fn run(socket: &str) -> Result<(), Box<dyn Error>> {
    println!("id {}", next_id(socket)?);
    let ids = next_ids(socket, 3)?;
    println!("ids {} {} {}", ids[0], ids[1], ids[2]);
    Ok(())
}

fn main() -> ExitCode {
    let socket = std::env::var("NEXT_ID_SOCKET").unwrap_or("/run/next-id/next-id.sock".into());
    match run(&socket) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("no ID from {socket}: {error}");
            ExitCode::FAILURE
        }
    }
}
