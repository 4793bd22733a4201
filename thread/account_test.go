package thread_test

import (
	"strings"
	"testing"

	"orchestrator/thread"
)

// TestAccountName: an account's name is the same each time, tells accounts and kinds apart, and holds nothing of the key.
func TestAccountName(t *testing.T) {
	const secret = "sk-aabbccdd00112233"
	name := thread.AccountName(thread.AccountKey, secret)
	if !thread.IsAccountName(name) || name != thread.AccountName(thread.AccountKey, " "+secret+"\n") {
		t.Errorf("name %q", name)
	}
	for _, other := range []string{thread.AccountName(thread.AccountKey, secret+"4"), thread.AccountName(thread.AccountLogin, secret)} {
		if other == name || !thread.IsAccountName(other) || strings.TrimPrefix(other, "login") == strings.TrimPrefix(name, "key") {
			t.Errorf("%q beside %q", other, name)
		}
	}
	if got := thread.AccountName(thread.AccountLogin, " "); got != "" {
		t.Errorf("no identity: %q", got)
	}
	for _, word := range []string{"", "demo", "all", "key-", "key-5e6f7a8", "key-5e6f7a8g", "key-5E6F7A8B", "other-5e6f7a8b", "key-5e6f7a8b0"} {
		if thread.IsAccountName(word) {
			t.Errorf("%q is taken for an account", word)
		}
	}
}
