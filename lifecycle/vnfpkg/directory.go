package vnfpkg

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"slices"
)

// A ZIP archive ends with its directory (APPNOTE 4.3):
//
//	header...          one for each entry: 46 bytes, name, extra fields and comment
//	zip64 end record   only in a large archive: 56 bytes
//	zip64 locator      says where the zip64 end record is: 20 bytes
//	end record         22 bytes, and a comment
//
// [archive/zip] reads headers until something else follows, whatever the end records count, and keeps
// each in memory.
const (
	headerBegin, endBegin, locatorBegin, end64Begin = "PK\x01\x02", "PK\x05\x06", "PK\x06\x07", "PK\x06\x06"
	headerLen, endLen, locatorLen, end64Len         = 46, 22, 20, 56
	// endWithin is the distance from the end of an archive in which archive/zip looks for its end
	// record.
	endWithin = 65 << 10
	// escaped is a count that the zip64 end record says.
	escaped = 1<<16 - 1
	// entryText is the number of bytes that a directory may have for each allowed entry.
	entryText = 512
)

// endRecord is the directory's description in an end record, at a place in the archive.
type endRecord struct {
	at, entries  uint64
	size, offset uint64
}

// boundDirectory refuses an archive whose directory has more entries, or more bytes, than the limits allow, before
// anything reads it into memory. It looks at each directory that archive/zip can choose, by either end record.
func boundDirectory(r io.ReaderAt, size int64, limits ArchiveLimits) error {
	records, err := endRecords(r, size)
	if err != nil {
		return err
	}
	var begins []int64
	for _, e := range records {
		if e.entries > uint64(limits.Entries) && e.entries != escaped {
			return fault("", "holds %d entries, and may hold %d", e.entries, limits.Entries)
		}
		// If data precedes the archive, offsets count from the beginning of the data or of the archive.
		for _, begin := range []uint64{e.at - e.size, e.offset} {
			if begin < uint64(size) && !slices.Contains(begins, int64(begin)) {
				begins = append(begins, int64(begin))
			}
		}
	}
	for _, begin := range begins {
		if err := boundHeaders(io.NewSectionReader(r, begin, size-begin), limits); err != nil {
			return err
		}
	}
	return nil
}

// endRecords returns the end record of an archive and its zip64 end record, as far as there are any.
func endRecords(r io.ReaderAt, size int64) ([]endRecord, error) {
	tail := make([]byte, min(size, endWithin))
	if err := readAt(r, tail, size-int64(len(tail))); err != nil {
		return nil, err
	}
	at := bytes.LastIndex(tail[:max(0, len(tail)-endLen+len(endBegin))], []byte(endBegin))
	if at < 0 {
		return nil, nil
	}
	b, whole := tail[at:], size-int64(len(tail))+int64(at)
	records := []endRecord{{
		at: uint64(whole), entries: uint64(binary.LittleEndian.Uint16(b[10:])),
		size: uint64(binary.LittleEndian.Uint32(b[12:])), offset: uint64(binary.LittleEndian.Uint32(b[16:])),
	}}
	locator := make([]byte, locatorLen)
	if whole < locatorLen {
		return records, nil
	}
	if err := readAt(r, locator, whole-locatorLen); err != nil {
		return nil, err
	}
	begin := binary.LittleEndian.Uint64(locator[8:])
	if !bytes.HasPrefix(locator, []byte(locatorBegin)) || begin >= uint64(size) {
		return records, nil
	}
	b = make([]byte, end64Len)
	if err := readAt(r, b, int64(begin)); err != nil || !bytes.HasPrefix(b, []byte(end64Begin)) {
		return records, err
	}
	return append(records, endRecord{
		at: begin, entries: binary.LittleEndian.Uint64(b[32:]),
		size: binary.LittleEndian.Uint64(b[40:]), offset: binary.LittleEndian.Uint64(b[48:]),
	}), nil
}

func boundHeaders(r io.Reader, limits ArchiveLimits) error {
	most := entryText * int64(limits.Entries)
	in := bufio.NewReader(r)
	header := make([]byte, headerLen)
	var text int64
	for entries := 0; ; entries++ {
		switch _, err := io.ReadFull(in, header); {
		case ended(err), err == nil && !bytes.HasPrefix(header, []byte(headerBegin)):
			return nil
		case err != nil:
			return err
		case entries == limits.Entries:
			return fault("", "holds more than %d entries", limits.Entries)
		}
		rest := 0
		for _, at := range []int{28, 30, 32} { // lengths of name, extra fields and comment
			rest += int(binary.LittleEndian.Uint16(header[at:]))
		}
		if text += headerLen + int64(rest); text > most {
			return fault("", "has a directory of more than %d bytes", most)
		}
		if _, err := in.Discard(rest); err != nil {
			if ended(err) {
				return nil
			}
			return err
		}
	}
}

// readAt fills b; bytes beyond the archive stay zero.
func readAt(r io.ReaderAt, b []byte, at int64) error {
	if _, err := r.ReadAt(b, at); err != nil && !ended(err) {
		return err
	}
	return nil
}

// ended reports whether an error only says that there is no more to read.
func ended(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
