package remote

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/thread/ground/rpc"
	"orchestrator/thread/private"
)

// provider is an MCP server with its authorization server.
type provider struct {
	*httptest.Server
	mu        sync.Mutex
	codes     map[string]url.Values // what a code was asked for with
	access    string                // the token that is valid
	refresh   string
	refreshes atomic.Int32
	seconds   int
	form      url.Values         // of the last request for a token
	clients   []string           // redirect addresses of those that are registered
	fault     func(q url.Values) // changes what the browser is sent back with
	issuer    string             // that the metadata claim, if not the true one
	bare      bool               // metadata are at /meta only
}

func newProvider(t *testing.T) *provider {
	p := &provider{codes: map[string]url.Values{}, seconds: 3600}
	mux := http.NewServeMux()
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	mux.HandleFunc("/mcp", p.mcp)
	mux.HandleFunc("/.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, r *http.Request) {
		if p.bare {
			http.NotFound(w, r)
			return
		}
		p.say(w, map[string]any{"resource": p.URL + "/mcp", "authorization_servers": []string{p.URL}, "scopes_supported": []string{"read", "write"}})
	})
	issuer := func(w http.ResponseWriter, r *http.Request) {
		if p.bare && r.URL.Path != "/meta" {
			http.NotFound(w, r)
			return
		}
		issuer := p.URL
		if p.issuer != "" {
			issuer = p.issuer
		}
		p.say(w, map[string]any{
			"issuer": issuer, "authorization_endpoint": p.URL + "/authorize?from=metadata", "token_endpoint": p.URL + "/token",
			"registration_endpoint": p.URL + "/register", "response_types_supported": []string{"code"},
			"code_challenge_methods_supported": []string{"S256"}, "authorization_response_iss_parameter_supported": true,
			"token_endpoint_auth_methods_supported": []string{"none"},
		})
	}
	mux.HandleFunc("/.well-known/oauth-authorization-server", issuer)
	mux.HandleFunc("/meta", issuer)
	mux.HandleFunc("/elsewhere", func(w http.ResponseWriter, _ *http.Request) {
		p.say(w, map[string]any{"resource": p.URL + "/mcp", "authorization_servers": []string{"http://127.0.0.1:1"}})
	})
	mux.HandleFunc("/register", func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Name  string   `json:"client_name"`
			Back  []string `json:"redirect_uris"`
			Grant []string `json:"grant_types"`
		}
		_ = json.NewDecoder(r.Body).Decode(&asked)
		p.mu.Lock()
		p.clients = append(p.clients, asked.Back...)
		p.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"client_id": "registered", "client_name": asked.Name, "redirect_uris": asked.Back, "token_endpoint_auth_method": "none"})
	})
	mux.HandleFunc("/authorize", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		code := fmt.Sprintf("code-%d", time.Now().UnixNano())
		p.mu.Lock()
		p.codes[code] = q
		p.mu.Unlock()
		back := url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.URL}}
		if p.fault != nil {
			p.fault(back)
		}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	})
	mux.HandleFunc("/token", p.token)
	return p
}

func (p *provider) say(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func (p *provider) mcp(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	ok := p.access != "" && r.Header.Get("Authorization") == "Bearer "+p.access
	p.mu.Unlock()
	if !ok {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+p.URL+`/.well-known/oauth-protected-resource/mcp"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, answer(idOf(r), `"in"`))
}

func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.form = r.PostForm
	refuse := func(code string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": code, "error_description": "got " + r.PostForm.Encode()})
	}
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		asked, ok := p.codes[r.PostForm.Get("code")]
		delete(p.codes, r.PostForm.Get("code"))
		sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
		if !ok || asked.Get("code_challenge") != base64.RawURLEncoding.EncodeToString(sum[:]) || asked.Get("code_challenge_method") != "S256" ||
			asked.Get("redirect_uri") != r.PostForm.Get("redirect_uri") {
			refuse("invalid_grant")
			return
		}
	case "refresh_token":
		if r.PostForm.Get("refresh_token") != p.refresh {
			refuse("invalid_grant")
			return
		}
		p.refreshes.Add(1)
	}
	if r.PostForm.Get("resource") != p.URL+"/mcp" {
		refuse("invalid_target")
		return
	}
	n := p.refreshes.Load()
	p.access, p.refresh = fmt.Sprintf("access-%s-%d", canary, n), fmt.Sprintf("refresh-%s-%d", canary, n)
	p.say(w, map[string]any{"access_token": p.access, "token_type": "Bearer", "refresh_token": p.refresh, "expires_in": p.seconds})
}

// revoke makes the token invalid, and with all the one that renews it, too.
func (p *provider) revoke(all bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.access = "revoked"
	if all {
		p.refresh = "revoked"
	}
}

func openTokens(t *testing.T, dir string) *Tokens {
	t.Helper()
	f, err := private.Make(dir, "state")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	tokens, err := OpenTokens(f, "tokens")
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// browser goes where a person's would.
func browser(ctx context.Context, page string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return err
	}
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := c.Do(r)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// challenged calls the server and returns what it demands.
func challenged(t *testing.T, p *rpc.Peer) []string {
	t.Helper()
	_, err := p.Call(t.Context(), "x", nil)
	var auth *AuthError
	if !errors.As(err, &auth) || auth.Status != http.StatusUnauthorized || errors.Is(err, rpc.ErrUnsure) {
		t.Fatalf("%v", err)
	}
	return auth.Challenge
}

func TestSignIn(t *testing.T) {
	for _, configured := range []string{"", "ours"} {
		server, dir := newProvider(t), t.TempDir()
		tokens := openTokens(t, dir)
		l := definition.Launch{Transport: definition.HTTP, URL: server.URL + "/mcp?key=" + canary, OAuth: definition.OAuth{ClientID: configured}}
		p, _ := dial(t, l, Options{Tokens: tokens})
		challenge := challenged(t, p)
		var shown string
		err := SignIn(t.Context(), l, challenge, tokens, SignInOptions{Browse: browser, Show: func(page string) { shown = page }})
		if err != nil {
			t.Fatal(err)
		}
		asked, err := url.Parse(shown)
		if err != nil {
			t.Fatal(err)
		}
		q := asked.Query()
		if q.Get("resource") != server.URL+"/mcp" || q.Get("code_challenge_method") != "S256" || !strings.Contains("read write read", q.Get("scope")) || len(q.Get("scope")) != len("read write") ||
			!strings.HasPrefix(q.Get("redirect_uri"), "http://127.0.0.1:") || strings.Contains(shown, canary) {
			t.Errorf("%s", shown)
		}
		want := configured
		if want == "" {
			want = "registered"
		}
		if q.Get("client_id") != want || (len(server.clients) == 0) != (configured != "") {
			t.Errorf("client %s, %d registered", q.Get("client_id"), len(server.clients))
		}
		if got := ask(t, p, "x", `{}`); got != `"in"` {
			t.Errorf("%s", got)
		}
		g := openTokens(t, dir).grants
		if len(g) != 1 || g[0].Issuer != server.URL || g[0].Resource != server.URL+"/mcp" || g[0].Client != want || g[0].Expires.IsZero() {
			t.Errorf("issuer %s, resource %s, client %s", g[0].Issuer, g[0].Resource, g[0].Client)
		}
		info, err := os.Stat(tokens.folder.Path("tokens"))
		if err != nil || info.Mode() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if !tokens.Has(l.URL) || tokens.Has(server.URL+"/other") {
			t.Error("the tokens are not the server's")
		}
		if err := tokens.Forget(l.URL); err != nil || tokens.Has(l.URL) || len(openTokens(t, dir).grants) != 0 {
			t.Errorf("not forgotten: %v", err)
		}
		challenged(t, p)
	}
}

// A configured address of the issuer's metadata counts, whatever the server says.
func TestSignInConfigured(t *testing.T) {
	server := newProvider(t)
	server.bare = true
	l := definition.Launch{Transport: definition.HTTP, URL: server.URL + "/mcp", OAuth: definition.OAuth{MetadataURL: server.URL + "/meta", Scopes: []string{"few"}}}
	tokens := openTokens(t, t.TempDir())
	var shown string
	challenge := []string{`Bearer resource_metadata="` + server.URL + `/elsewhere"`}
	if err := SignIn(t.Context(), l, challenge, tokens, SignInOptions{Browse: browser, Show: func(page string) { shown = page }}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(shown, "scope=few&") || !strings.Contains(shown, "from=metadata&") || tokens.grants[0].Issuer != server.URL {
		t.Errorf("%s, %s", shown, tokens.grants[0].Issuer)
	}
	for _, at := range []string{"http://example.org/", server.URL + "/none", server.URL + "/register", "file:///etc/passwd"} {
		l.OAuth.MetadataURL = at
		if err := SignIn(t.Context(), l, nil, tokens, SignInOptions{Browse: browser}); err == nil || !strings.Contains(err.Error(), "configured metadata") {
			t.Errorf("%s: %v", at, err)
		}
	}
}

// A token goes to the server that it is from, and to no other.
func TestTokensStayAtHome(t *testing.T) {
	server, tokens := newProvider(t), openTokens(t, t.TempDir())
	if err := SignIn(t.Context(), definition.Launch{Transport: definition.HTTP, URL: server.URL + "/mcp"}, nil, tokens, SignInOptions{Browse: browser}); err != nil {
		t.Fatal(err)
	}
	w, at := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusUnauthorized) }))
	for _, to := range []string{at + "/mcp", server.URL + "/mcp2"} {
		p, _ := dial(t, definition.Launch{Transport: definition.HTTP, URL: to}, Options{Tokens: tokens})
		if _, err := p.Call(t.Context(), "x", nil); err == nil {
			t.Errorf("%s answers", to)
		}
	}
	for _, r := range w.requests(http.MethodPost) {
		if got := r.Header.Get("Authorization"); got != "" {
			t.Errorf("%s", got)
		}
	}
	p, _ := dial(t, definition.Launch{Transport: definition.HTTP, URL: server.URL + "/mcp", Headers: map[string]string{"authorization": "Bearer own"}}, Options{Tokens: tokens})
	if _, err := p.Call(t.Context(), "x", nil); !errors.Is(err, ErrAuth) {
		t.Errorf("a configured header is replaced: %v", err)
	}
}

// However many calls need it, a token is renewed once; also by another process.
func TestRenewedOnce(t *testing.T) {
	server, dir := newProvider(t), t.TempDir()
	tokens := openTokens(t, dir)
	l := definition.Launch{Transport: definition.HTTP, URL: server.URL + "/mcp"}
	if err := SignIn(t.Context(), l, nil, tokens, SignInOptions{Browse: browser}); err != nil {
		t.Fatal(err)
	}
	p, _ := dial(t, l, Options{Tokens: tokens})
	other, _ := dial(t, l, Options{Tokens: openTokens(t, dir)})
	server.revoke(false)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() { ask(t, []*rpc.Peer{p, other}[i%2], "x", `{}`) })
	}
	all.Wait()
	if n := server.refreshes.Load(); n != 1 {
		t.Errorf("renewed %d times", n)
	}
	server.mu.Lock()
	if server.form.Get("resource") != server.URL+"/mcp" || server.form.Get("client_id") != "registered" {
		t.Errorf("%v", server.form)
	}
	server.seconds = 1
	server.mu.Unlock()
	server.revoke(false)
	ask(t, p, "x", `{}`)
	ask(t, p, "x", `{}`) // it expires at once
	if n := server.refreshes.Load(); n != 3 {
		t.Errorf("renewed %d times", n)
	}
	server.revoke(true)
	_, err := p.Call(t.Context(), "x", nil)
	if !errors.Is(err, ErrAuth) || strings.Contains(err.Error(), canary) || errors.Is(err, rpc.ErrUnsure) {
		t.Errorf("%v", err)
	}
}

func TestSignInRefuses(t *testing.T) {
	l := func(p *provider) definition.Launch {
		return definition.Launch{Transport: definition.HTTP, URL: p.URL + "/mcp"}
	}
	for name, c := range map[string]struct {
		spoil func(*provider)
		want  string
	}{
		"another issuer answers": {func(p *provider) { p.fault = func(q url.Values) { q.Set("iss", "https://evil.example") } }, "does not match expected issuer"},
		"no issuer":              {func(p *provider) { p.fault = func(q url.Values) { q.Del("iss") } }, "none was received"},
		"metadata of another":    {func(p *provider) { p.issuer = "https://evil.example" }, "issuer"},
		"denied": {func(p *provider) {
			p.fault = func(q url.Values) { q.Del("code"); q.Set("error", "access_denied\x1b[2J") }
		}, "access_denied"},
		"another's code": {func(p *provider) { p.fault = func(q url.Values) { q.Set("code", canary) } }, "invalid_grant"},
	} {
		server := newProvider(t)
		c.spoil(server)
		tokens := openTokens(t, t.TempDir())
		err := SignIn(t.Context(), l(server), nil, tokens, SignInOptions{Browse: browser})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%s: %v", name, err)
		}
		if len(tokens.grants) != 0 {
			t.Errorf("%s: there are tokens", name)
		}
	}
}

// An answer without the state is somebody else's: it does not end the sign-in.
func TestSignInIgnoresOthers(t *testing.T) {
	server := newProvider(t)
	var statuses []int
	browse := func(ctx context.Context, page string) error {
		asked, err := url.Parse(page)
		if err != nil {
			return err
		}
		back := asked.Query().Get("redirect_uri")
		for _, q := range []string{"", "?code=x", "?code=x&state=x", "?error=x&state="} {
			r, err := http.Get(back + q)
			if err != nil {
				return err
			}
			statuses = append(statuses, r.StatusCode)
			_ = r.Body.Close()
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, back+"?code=x&state="+asked.Query().Get("state"), nil)
		if err != nil {
			return err
		}
		r.Host = "evil.example"
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return err
		}
		statuses = append(statuses, response.StatusCode)
		_ = response.Body.Close()
		http.DefaultClient.CloseIdleConnections()
		return browser(ctx, page)
	}
	l := definition.Launch{Transport: definition.HTTP, URL: server.URL + "/mcp"}
	if err := SignIn(t.Context(), l, nil, openTokens(t, t.TempDir()), SignInOptions{Browse: browse}); err != nil {
		t.Error(err)
	}
	for _, s := range statuses {
		if s != http.StatusBadRequest {
			t.Errorf("%v", statuses)
		}
	}
}

func TestSignInEnds(t *testing.T) {
	server := newProvider(t)
	ctx, stop := context.WithCancel(t.Context())
	browse := func(context.Context, string) error {
		stop()
		return nil
	}
	l := definition.Launch{Transport: definition.HTTP, URL: server.URL + "/mcp"}
	if err := SignIn(ctx, l, nil, openTokens(t, t.TempDir()), SignInOptions{Browse: browse}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestPage(t *testing.T) {
	for page, ok := range map[string]bool{
		"https://a.example/x?y": true, "http://127.0.0.1:1/": true, "http://localhost/": true, "http://[::1]/": true,
		"http://a.example/": false, "file:///etc/passwd": false, "javascript:alert(1)": false, "--help": false, "": false, "https:///x": false,
	} {
		if _, err := pageOf(page); (err == nil) != ok {
			t.Errorf("%s: %v", page, err)
		}
	}
	if err := Browse(t.Context(), "--version"); err == nil {
		t.Error("an option was opened")
	}
}

// What a server names for signing in must not lead into a network that only we reach.
func TestGuard(t *testing.T) {
	for _, c := range []struct {
		server, host, ip string
		ok               bool
	}{
		{"https://mcp.example", "auth.example", "93.184.216.34", true},
		{"https://mcp.example", "auth.example", "10.0.0.1", false},
		{"https://mcp.example", "auth.example", "192.168.1.1", false},
		{"https://mcp.example", "auth.example", "169.254.169.254", false},
		{"https://mcp.example", "auth.example", "127.0.0.1", false},
		{"https://mcp.example", "auth.example", "::1", false},
		{"https://mcp.example", "auth.example", "::ffff:127.0.0.1", false},
		{"https://mcp.example", "auth.example", "fe80::1", false},
		{"https://mcp.example", "auth.example", "fd00::1", false},
		{"https://mcp.example", "auth.example", "100.64.0.1", false},
		{"https://mcp.example", "auth.example", "::ffff:100.64.0.1", false},
		{"https://mcp.example", "auth.example", "0.0.0.0", false},
		{"https://mcp.example", "auth.example", "224.0.0.1", false},
		{"https://mcp.example", "mcp.example", "10.0.0.1", true}, // the server itself is there
		{"http://127.0.0.1:8080", "localhost", "127.0.0.1", true},
		{"http://127.0.0.1:8080", "auth.example", "10.0.0.1", false},
	} {
		at, err := url.Parse(c.server)
		if err != nil {
			t.Fatal(err)
		}
		g := &guard{server: at.Hostname(), here: loopback(at.Hostname())}
		if err := g.check(c.host, netip.MustParseAddr(c.ip)); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
	inside, at := serve(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, to := range []string{at, strings.Replace(at, "127.0.0.1", "localhost", 1)} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, to, nil)
		if err != nil {
			t.Fatal(err)
		}
		if response, err := newGuarded(&url.URL{Scheme: "https", Host: "mcp.example"}, nil).Do(r); err == nil {
			_ = response.Body.Close()
			t.Errorf("%s is reached", to)
		}
	}
	if len(inside.requests(http.MethodGet)) != 0 {
		t.Error("there was a request")
	}
}

func TestTokensDamaged(t *testing.T) {
	dir := t.TempDir()
	tokens := openTokens(t, dir)
	if err := tokens.folder.Write("tokens", []byte("["+canary)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenTokens(tokens.folder, "tokens"); err == nil || strings.Contains(err.Error(), canary) {
		t.Errorf("%v", err)
	}
	var none *Tokens
	if token, err := none.token(t.Context(), &url.URL{}, "", "", nil); token != "" || err != nil || none.renewable(&url.URL{}, "") {
		t.Errorf("%s, %v", token, err)
	}
}

// Who holds the lock of the file keeps nobody from closing.
func TestTokensLocked(t *testing.T) {
	server, tokens := newProvider(t), openTokens(t, t.TempDir())
	l := definition.Launch{Transport: definition.HTTP, URL: server.URL + "/mcp"}
	if err := SignIn(t.Context(), l, nil, tokens, SignInOptions{Browse: browser}); err != nil {
		t.Fatal(err)
	}
	server.revoke(false)
	p, _ := dial(t, l, Options{Tokens: tokens})
	err := tokens.locked(t.Context(), func() error {
		for range 2 {
			ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer stop()
			if _, err := p.Call(ctx, "x", nil); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v", err)
			}
		}
		return p.Close()
	})
	if err != nil || server.refreshes.Load() != 0 {
		t.Errorf("%v, renewed %d times", err, server.refreshes.Load())
	}
}
