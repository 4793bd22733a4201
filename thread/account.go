package thread

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// AccountNamer is an agent that knows which login pays for it. Optional for an Agent.
type AccountNamer interface {
	// Account returns the name of the login that an agent started there would use, as AccountName makes it; "" if that is
	// not known. It reads what World reads, and asks nobody.
	Account(WorldSpec) (string, error)
}

// The kinds of accounts.
const (
	AccountLogin = "login" // the person is signed in
	AccountKey   = "key"   // a key or a token that the person was given
)

// accountDigits is how many hex digits of a digest name an account: enough to tell a person's accounts apart, and too few
// to find out what they are made of.
const accountDigits = 8

// AccountName names a login by its kind and by what identifies it, which the name does not tell: "key-5e6f7a8b". It is the
// same each time; "" if nothing identifies the login.
func AccountName(kind, identity string) string {
	identity = strings.TrimSpace(identity)
	if identity == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(kind + "\x00" + identity))
	return kind + "-" + hex.EncodeToString(sum[:])[:accountDigits]
}

// IsAccountName reports whether a word has the form that AccountName returns.
func IsAccountName(word string) bool {
	kind, digits, ok := strings.Cut(word, "-")
	if !ok || kind != AccountLogin && kind != AccountKey || len(digits) != accountDigits {
		return false
	}
	return strings.Trim(digits, "0123456789abcdef") == ""
}
