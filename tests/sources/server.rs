//! A server of files for one test: GET and HEAD, on 127.0.0.1, for a bounded time.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::Result;

/// Serves a folder; its port stands in the file `port` there from then on.
pub fn serve(folder: &Path, time: Duration) -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    listener.set_nonblocking(true)?;
    let port = listener.local_addr()?.port();
    fs::write(folder.join("port.new"), port.to_string())?;
    fs::rename(folder.join("port.new"), folder.join("port"))?;
    let end = Instant::now() + time;
    while Instant::now() < end {
        match listener.accept() {
            Ok((stream, _)) => {
                let folder = folder.to_owned();
                // A client that goes away is its own business.
                thread::spawn(move || answer(&folder, stream).ok());
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                thread::sleep(Duration::from_millis(20));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

fn answer(folder: &Path, mut stream: TcpStream) -> Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let request = lines.next().ok_or("no request")??;
    // Its headers say nothing that matters here.
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let path = path.trim_start_matches('/');
    let mut log = OpenOptions::new();
    writeln!(
        log.append(true)
            .create(true)
            .open(folder.join("requests"))?,
        "{path}"
    )?;
    let inside = !path.split('/').any(|part| part == "..");
    match File::open(folder.join(path)) {
        Ok(mut file) if inside && folder.join(path).is_file() => {
            let size = file.metadata()?.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Length: {size}\r\nConnection: close\r\n\r\n"
            )?;
            if method == "GET" {
                io::copy(&mut file, &mut stream)?;
            }
        }
        _ => write!(
            stream,
            "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        )?,
    }
    Ok(())
}
