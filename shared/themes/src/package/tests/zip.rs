//! Writes zips, also invalid ones (PKWARE's ZIP application note, version 6.3.10).

use miniz_oxide::deflate::compress_to_vec;

/// An entry, whose headers can contradict its data.
#[derive(Clone)]
pub struct Entry {
    pub name: Vec<u8>,
    pub local_name: Option<Vec<u8>>,
    pub flags: u16,
    pub local_flags: Option<u16>,
    pub method: u16,
    pub local_method: Option<u16>,
    pub crc: u32,
    pub packed: Vec<u8>,
    pub said_packed: u32,
    pub said_size: u32,
    pub local_size: Option<u32>,
    pub attributes: u32,
    pub extra: Vec<u8>,
    pub disk: u16,
    /// The declared offset of its local header. If set, no local header or data is written.
    pub offset: Option<u32>,
    pub descriptor: Option<Vec<u8>>,
    /// Bytes before its header.
    pub gap: Vec<u8>,
}

fn entry(name: &[u8], data: &[u8], method: u16, packed: Vec<u8>) -> Entry {
    Entry {
        name: name.to_vec(),
        local_name: None,
        flags: 0,
        local_flags: None,
        method,
        local_method: None,
        crc: rawzip::crc32(data),
        said_packed: u32::try_from(packed.len()).unwrap(),
        packed,
        said_size: u32::try_from(data.len()).unwrap(),
        local_size: None,
        attributes: 0o100_644 << 16,
        extra: Vec::new(),
        disk: 0,
        offset: None,
        descriptor: None,
        gap: Vec::new(),
    }
}

pub fn stored(name: impl AsRef<[u8]>, data: &[u8]) -> Entry {
    entry(name.as_ref(), data, 0, data.to_vec())
}

pub fn deflated(name: impl AsRef<[u8]>, data: &[u8]) -> Entry {
    entry(name.as_ref(), data, 8, compress_to_vec(data, 6))
}

impl Entry {
    /// Moves sizes and checksum after the data, as `zip` does when it writes to a pipe.
    pub fn streamed(mut self, signed: bool) -> Self {
        self.flags |= 1 << 3;
        let mut descriptor = if signed { b"PK\x07\x08".to_vec() } else { Vec::new() };
        for word in [self.crc, self.said_packed, self.said_size] {
            descriptor.extend(word.to_le_bytes());
        }
        self.descriptor = Some(descriptor);
        self
    }

    pub fn but(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn local(&self) -> Vec<u8> {
        let name = self.local_name.as_ref().unwrap_or(&self.name);
        let is_streamed = self.descriptor.is_some();
        let known = |word: u32| if is_streamed { 0 } else { word };
        let mut bytes = b"PK\x03\x04".to_vec();
        bytes.extend(20_u16.to_le_bytes());
        bytes.extend(self.local_flags.unwrap_or(self.flags).to_le_bytes());
        bytes.extend(self.local_method.unwrap_or(self.method).to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(known(self.crc).to_le_bytes());
        bytes.extend(known(self.said_packed).to_le_bytes());
        bytes.extend(known(self.local_size.unwrap_or(self.said_size)).to_le_bytes());
        bytes.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        bytes.extend([0; 2]);
        bytes.extend(name);
        bytes.extend(&self.packed);
        bytes.extend(self.descriptor.iter().flatten());
        bytes
    }

    fn central(&self, offset: u32) -> Vec<u8> {
        let mut bytes = b"PK\x01\x02".to_vec();
        bytes.extend((0x0314_u16).to_le_bytes());
        bytes.extend(20_u16.to_le_bytes());
        bytes.extend(self.flags.to_le_bytes());
        bytes.extend(self.method.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(self.crc.to_le_bytes());
        bytes.extend(self.said_packed.to_le_bytes());
        bytes.extend(self.said_size.to_le_bytes());
        bytes.extend(u16::try_from(self.name.len()).unwrap().to_le_bytes());
        bytes.extend(u16::try_from(self.extra.len()).unwrap().to_le_bytes());
        bytes.extend([0; 2]);
        bytes.extend(self.disk.to_le_bytes());
        bytes.extend([0; 2]);
        bytes.extend(self.attributes.to_le_bytes());
        bytes.extend(self.offset.unwrap_or(offset).to_le_bytes());
        bytes.extend(&self.name);
        bytes.extend(&self.extra);
        bytes
    }
}

/// The end record of the directory.
pub struct End {
    pub disk: u16,
    pub count: u16,
    pub size: u32,
    pub offset: u32,
    pub comment: Vec<u8>,
}

pub fn zip(entries: &[Entry]) -> Vec<u8> {
    zip_but(entries, |_| {})
}

pub fn zip_but(entries: &[Entry], change: impl FnOnce(&mut End)) -> Vec<u8> {
    let (mut bytes, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        bytes.extend(&entry.gap);
        directory.extend(entry.central(u32::try_from(bytes.len()).unwrap()));
        if entry.offset.is_none() {
            bytes.extend(entry.local());
        }
    }
    let mut end = End {
        disk: 0,
        count: u16::try_from(entries.len()).unwrap(),
        size: u32::try_from(directory.len()).unwrap(),
        offset: u32::try_from(bytes.len()).unwrap(),
        comment: Vec::new(),
    };
    change(&mut end);
    bytes.extend(directory);
    bytes.extend(b"PK\x05\x06");
    bytes.extend(end.disk.to_le_bytes());
    bytes.extend(end.disk.to_le_bytes());
    bytes.extend(end.count.to_le_bytes());
    bytes.extend(end.count.to_le_bytes());
    bytes.extend(end.size.to_le_bytes());
    bytes.extend(end.offset.to_le_bytes());
    bytes.extend(u16::try_from(end.comment.len()).unwrap().to_le_bytes());
    bytes.extend(&end.comment);
    bytes
}
