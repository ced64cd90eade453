//! Files of a repository that name others of it: git takes such a name for a path, wherever that leads.
//!
//! Source: git 2.47, gitformat-pack(5), "multi-pack-index (MIDX) files"; its Documentation/technical/reftable.

/// How many bytes of a multi-pack-index have to be looked at, at most: the names of thousands of packs.
pub(crate) const MAX_MULTI_PACK: u64 = 1024 * 1024;

/// Whether the packs that a multi-pack-index names, by its first [`MAX_MULTI_PACK`] bytes, lie beside it. `None`: its names are not
/// all among these, or it is not understood. (Git before 2.43 read names on beyond the end of their chunk.)
pub(crate) fn packs_lie_beside(bytes: &[u8]) -> Option<bool> {
    const HEAD: usize = 12;
    const ROW: usize = 12;
    if bytes.get(..5)? != b"MIDX\x01" {
        return None;
    }
    let chunks = usize::from(*bytes.get(6)?);
    let packs = usize::try_from(u32::from_be_bytes(bytes.get(8..HEAD)?.try_into().ok()?)).ok()?;
    let rows = bytes.get(HEAD..HEAD + (chunks + 1) * ROW)?;
    let mut begin = None;
    for row in rows.chunks_exact(ROW) {
        let (name, offset) = row.split_at(4);
        let offset = usize::try_from(u64::from_be_bytes(offset.try_into().ok()?)).ok()?;
        if let Some(begin) = begin {
            let names = bytes.get(begin..offset)?;
            let ended = names.split(|byte| *byte == 0).count() - 1;
            return (ended >= packs).then(|| !names.contains(&b'/'));
        }
        if name == b"PNAM" {
            begin = Some(offset);
        }
    }
    None
}

/// Whether the tables that a list of reftables names lie beside it.
pub(crate) fn tables_lie_beside(list: &[u8]) -> bool {
    !list.contains(&b'/')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut bytes = b"MIDX\x01\x01".to_vec();
        bytes.extend([u8::try_from(chunks.len()).unwrap(), 0, 0, 0, 0, 1]);
        let mut at = u64::try_from(bytes.len() + (chunks.len() + 1) * 12).unwrap();
        for (name, content) in chunks {
            bytes.extend_from_slice(*name);
            bytes.extend(at.to_be_bytes());
            at += u64::try_from(content.len()).unwrap();
        }
        bytes.extend([0; 4]);
        bytes.extend(at.to_be_bytes());
        for (_, content) in chunks {
            bytes.extend_from_slice(content);
        }
        bytes
    }

    #[test]
    fn names_of_packs_are_no_paths() {
        let plain = index(&[(b"OIDF", b"a/b"), (b"PNAM", b"pack-1.idx\0\0"), (b"OOFF", b"/")]);
        assert_eq!(packs_lie_beside(&plain), Some(true));
        let led = index(&[(b"PNAM", b"../../x/pack-1.idx\0\0"), (b"OIDF", b"")]);
        assert_eq!(packs_lie_beside(&led), Some(false));
        assert_eq!(packs_lie_beside(&index(&[(b"OIDF", b"")])), None);
        let goes_on = index(&[(b"PNAM", b"pack-1"), (b"OIDF", b"/x\0")]);
        assert_eq!(packs_lie_beside(&goes_on), None);
        for cut in 0..led.len() {
            assert_ne!(packs_lie_beside(&led[..cut]), Some(true), "{cut}");
        }
        assert_eq!(packs_lie_beside(&plain[..plain.len() - 20]), None);
        assert!(tables_lie_beside(b"0x1-0x2-a.ref\n") && !tables_lie_beside(b"../x.ref\n"));
    }
}
