// Package secrettest makes secrets for tests: one of every shape that package secret knows, none of them real. They are
// assembled here, so that no file contains a whole one.
package secrettest

import "strings"

// Canary is a secret, alone and inside a text.
type Canary struct {
	Name string
	// Secret must not appear where it does not belong.
	Secret string
	// Text contains it.
	Text string
}

// pseudoRandom returns n characters of an alphabet that look random, different for every seed.
func pseudoRandom(alphabet string, n int, seed uint32) string {
	b := make([]byte, n)
	for i := range b {
		seed = seed*1664525 + 1013904223
		b[i] = alphabet[int(seed>>16)%len(alphabet)]
	}
	return string(b)
}

const (
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	digits = "0123456789"
	mixed  = upper + lower + digits
)

// All returns the canaries.
func All() []Canary {
	var all []Canary
	seed := uint32(7)
	next := func(alphabet string, n int) string { seed += 1000003; return pseudoRandom(alphabet, n, seed) }
	add := func(name, secret, before, behind string) {
		all = append(all, Canary{Name: name, Secret: secret, Text: before + secret + behind})
	}
	for _, p := range []struct {
		name, prefix, alphabet string
		n                      int
	}{
		{"Anthropic", "sk-ant-api03-", mixed + "-_", 95}, {"Anthropic OAuth", "sk-ant-oat01-", mixed, 60},
		{"OpenAI", "sk-", mixed, 48},
		{"OpenAI project", "sk-proj-", mixed, 120}, {"OpenAI service", "sk-svcacct-", mixed, 100},
		{"OpenRouter", "sk-or-v1-", "abcdef" + digits, 64},
		{"hexadecimal", "sk-", "abcdef" + digits, 32}, {"Stripe", "sk_live_", mixed, 24}, {"GitHub", "ghp_", mixed, 36},
		{"GitHub OAuth", "gho_", mixed, 36},
		{"GitHub app", "ghs_", mixed, 36}, {"GitHub fine", "github_pat_", mixed, 82}, {"GitLab", "glpat-", mixed, 20},
		{"AWS", "AKIA", upper + "234567", 16},
		{"AWS session", "ASIA", upper + "234567", 16}, {"Slack bot", "xoxb-", digits, 12},
		{"Slack person", "xoxp-", mixed, 40}, {"Slack app", "xapp-1-A", mixed, 40},
		{"Google", "AIza", mixed, 35}, {"Google client", "GOCSPX-", mixed, 28}, {"npm", "npm_", mixed, 36},
		{"PyPI", "pypi-AgE", mixed, 80},
		{"Hugging Face", "hf_", mixed, 34}, {"Groq", "gsk_", mixed, 52}, {"xAI", "xai-", mixed, 80},
		{"DigitalOcean", "dop_v1_", "abcdef" + digits, 64},
		{"Docker", "dckr_pat_", mixed, 27}, {"Vault", "hvs.", mixed, 40}, {"Databricks", "dapi", "abcdef" + digits, 32},
	} {
		secret := p.prefix + next(p.alphabet, p.n)
		if p.name == "Slack bot" {
			secret += "-" + next(digits, 12) + "-" + next(mixed, 24)
		}
		add(p.name, secret, "use ", " for this")
	}
	add("SendGrid", "SG."+next(mixed, 22)+"."+next(mixed, 43), "mail with ", "")
	add("signed token", "eyJ"+next(mixed, 33)+".eyJ"+next(mixed, 80)+"."+next(mixed+"-_", 43), "cookie=", ";")
	add("bearer", next(mixed, 40), "Authorization: Bearer ", "")
	add("basic", next(mixed, 36)+"==", "authorization: basic ", "")
	add("PostgreSQL", next(mixed, 14), "postgres://app:", "@db.example.com:5432/app")
	add("Redis", next(lower+digits, 12), "redis://default:", "@10.0.0.7:6379/0")
	add("AWS secret", next(mixed+"+/", 40), "aws_secret_access_key = ", "")
	add("environment", next(mixed, 24), "export MYSQL_PASSWORD=", "")
	add("JSON", next(mixed, 32), `{"api_key": "`, `"}`)
	add("YAML", next(mixed, 20), "client_secret: '", "'")
	add("header", next(mixed, 32), "x-api-key: ", "")
	add("Slack address", "hooks.slack.com/services/T"+next(upper+digits, 8)+"/B"+next(upper+digits, 8)+"/"+next(mixed, 24),
		"https://", "")
	var pem strings.Builder
	for range 12 {
		pem.WriteString(next(mixed+"+/", 64) + "\n")
	}
	add("private key", pem.String(), "-----BEGIN RSA PRIVATE "+"KEY-----\n", "-----END RSA PRIVATE "+"KEY-----")
	add("cut key", strings.TrimSuffix(pem.String()[:400], "\n"), "-----BEGIN OPENSSH PRIVATE "+"KEY-----\n", "")
	return all
}

// In reports whether a text contains a revealing piece of the secret, in any case and between any separators, such as a
// name made from it.
func (c Canary) In(text string) bool {
	const piece = 10
	text = strings.ToLower(text)
	for run := range strings.FieldsFuncSeq(strings.ToLower(c.Secret), func(r rune) bool {
		return !strings.ContainsRune(lower+digits, r)
	}) {
		n := len(run)
		if n >= piece && (strings.Contains(text, run[:piece]) || strings.Contains(text, run[n/2-piece/2:n/2+piece/2]) ||
			strings.Contains(text, run[n-piece:])) {
			return true
		}
	}
	return false
}
