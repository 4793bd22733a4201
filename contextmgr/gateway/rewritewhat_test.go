package gateway_test

import (
	"testing"

	"orchestrator/contextmgr/gateway"
)

// TestRewriterIsNotAsked: about a request without a body, and about one whose header vouches for its body in any of the
// ways there are, the rewriter is not asked.
func TestRewriterIsNotAsked(t *testing.T) {
	w, rw, rec := rewriting(t, func(gateway.Outgoing) gateway.Rewritten { return gateway.Rewritten{Body: []byte("{}")} })
	body := request("fix it")
	for _, tc := range []struct{ body, name, value string }{
		{"", "X-Own", "x"},
		{body, "Authorization", "AWS4-HMAC-SHA256 Credential=x"},
		{body, "X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD"},
		{body, "Content-Md5", "x"},
		{body, "Digest", "sha-256=x"},
		{body, "Content-Digest", "sha-256=:x:"},
		{body, "Signature", "sig1=:x:"},
		{body, "X-Goog-Content-Sha256", "x"},
	} {
		if _, _, err := post(t, w.base+"/v1/messages", tc.body, tc.name, tc.value); err != nil {
			t.Fatal(err)
		}
		if got := rec.last(t); string(got.body) != tc.body || got.header.Get(tc.name) != tc.value {
			t.Errorf("%s: upstream got %q, %v", tc.name, got.body, got.header)
		}
	}
	if n := len(rw.asked()); n != 0 {
		t.Errorf("the rewriter was asked %d times", n)
	}
	if _, _, err := post(t, w.base+"/v1/messages", body, "Authorization", "Bearer AWS4-x"); err != nil {
		t.Fatal(err)
	}
	if len(rw.asked()) != 1 || string(rec.last(t).body) != "{}" {
		t.Error("a request that is not signed is not rewritten")
	}
}
