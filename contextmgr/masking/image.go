package masking

import "bytes"

const (
	mostPlain    = 32 << 10 // the size up to which a message is not searched for pictures
	leastPicture = 4 << 10  // the size in bytes from which on a string without a space may be one
)

// pictured returns how many bytes of a message are pictures and other encoded files, and how many there are.
func pictured(raw []byte) (size, n int) {
	for at := 0; ; {
		from := bytes.IndexByte(raw[at:], '"')
		if from < 0 {
			return size, n
		}
		from += at + 1
		end := bytes.IndexByte(raw[from:], '"')
		if end < 0 {
			return size, n
		}
		if end >= leastPicture && encoded(raw[from:from+end]) {
			size, n = size+end, n+1
		}
		at = from + end // of a string without escapes it is the closing quote; of others the next string begins here
		if at++; at > len(raw) {
			return size, n
		}
	}
}

// encoded reports whether a long string is base64, perhaps behind the beginning of a data URL.
func encoded(s []byte) bool {
	if at := bytes.Index(s[:min(len(s), 200)], []byte("base64,")); at >= 0 {
		s = s[at+len("base64,"):]
	}
	for _, c := range s[:min(len(s), leastPicture/2)] {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '+', c == '/', c == '-', c == '_', c == '=':
		default:
			return false
		}
	}
	return true
}
