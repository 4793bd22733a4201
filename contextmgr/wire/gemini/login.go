package gemini

import (
	"net/http"
)

// Login implements wire.Scanner. A key comes in a header of its own, or in the address.
func (Codec) Login(header http.Header) bool {
	return header.Get("Authorization") != "" && header.Get("X-Goog-Api-Key") == ""
}
