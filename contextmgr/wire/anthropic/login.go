package anthropic

import (
	"net/http"
	"strings"
)

// Login implements wire.Scanner. Claude Code names the beta of logins in each request.
func (Codec) Login(header http.Header) bool {
	return strings.Contains(strings.Join(header.Values("Anthropic-Beta"), ","), "oauth-")
}
