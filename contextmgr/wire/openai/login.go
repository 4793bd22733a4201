package openai

import "net/http"

// login reports whether a request comes from a login with ChatGPT: Codex names the account then.
func login(header http.Header) bool { return header.Get("Chatgpt-Account-Id") != "" }

// Login implements wire.Scanner.
func (Responses) Login(header http.Header) bool { return login(header) }

// Login implements wire.Scanner.
func (Chat) Login(header http.Header) bool { return login(header) }
