package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"orchestrator/thread/private"
)

const (
	maxTokens = 4 << 20
	maxAnswer = 1 << 20
	lockPause = 20 * time.Millisecond
	early     = 30 * time.Second // before it expires a token is renewed
)

// Tokens are what the person got by signing in, in a file that only this user can read. Several processes may share it.
// A token is renewed once however many calls need it. The methods accept nil, which has none.
type Tokens struct {
	folder *private.Folder
	name   string

	mu     sync.Mutex // guards grants
	grants []grant
}

// grant is a server's permission to be used.
type grant struct {
	Server   string    `json:"server"`   // as configured, without its query
	Issuer   string    `json:"issuer"`   // of the tokens
	Resource string    `json:"resource"` // that they are for
	Client   string    `json:"client"`   // that they were given to
	Secret   string    `json:"secret,omitempty"`
	InHeader bool      `json:"inHeader,omitempty"` // where the secret is sent
	TokenURL string    `json:"tokenURL"`
	Access   string    `json:"access"`
	Refresh  string    `json:"refresh,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`
}

func (g grant) key() string { return g.Issuer + "\n" + g.Resource + "\n" + g.Client }

// OpenTokens opens the tokens in a file of a folder.
func OpenTokens(folder *private.Folder, name string) (*Tokens, error) {
	t := &Tokens{folder: folder, name: name}
	if err := t.load(); err != nil {
		return nil, err
	}
	return t, nil
}

// load reads the file. Its content is in no error.
func (t *Tokens) load() error {
	content, err := t.folder.Read(t.name, maxTokens)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		content = []byte("[]")
	case err != nil:
		return fmt.Errorf("read the tokens of servers: %w", err)
	}
	var grants []grant
	if json.Unmarshal(content, &grants) != nil {
		return fmt.Errorf("read the tokens of servers: %s is damaged: delete it and sign in again", t.folder.Path(t.name))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.grants = grants
	return nil
}

// change reads the file, changes the grants and writes it, while no other process does.
func (t *Tokens) change(edit func([]grant) []grant) error {
	ctx, stop := context.WithTimeout(context.Background(), signInTime)
	defer stop()
	return t.locked(ctx, func() error {
		if err := t.load(); err != nil {
			return err
		}
		return t.store(edit)
	})
}

// store changes the grants and writes them. The file must be locked.
func (t *Tokens) store(edit func([]grant) []grant) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := edit(slices.Clone(t.grants))
	content, err := json.MarshalIndent(next, "", "  ")
	if err != nil {
		return err
	}
	if err := t.folder.Write(t.name, content); err != nil {
		return fmt.Errorf("write the tokens of servers: %w", err)
	}
	t.grants = next
	return nil
}

// locked runs do while nobody else changes the file, in this process or another.
func (t *Tokens) locked(ctx context.Context, do func() error) error {
	lock, err := t.folder.File(t.name+".lock", os.O_RDWR|os.O_CREATE)
	if err != nil {
		return fmt.Errorf("lock the tokens of servers: %w", err)
	}
	defer func() { _ = lock.Close() }()
	for {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return do()
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("lock the tokens of servers: %w", err)
		}
		select {
		case <-time.After(lockPause):
		case <-ctx.Done():
			return fmt.Errorf("lock the tokens of servers: %w", context.Cause(ctx))
		}
	}
}

// put keeps a grant instead of one with the same key.
func (t *Tokens) put(g grant) error {
	return t.change(func(all []grant) []grant { return replace(all, g) })
}

func replace(all []grant, g grant) []grant {
	all = slices.DeleteFunc(all, func(old grant) bool { return old.key() == g.key() })
	return append(all, g)
}

// Forget deletes the tokens of a server: the person has signed out.
func (t *Tokens) Forget(server string) error {
	at, err := address(server)
	if err != nil {
		return err
	}
	return t.change(func(all []grant) []grant {
		return slices.DeleteFunc(all, func(g grant) bool { return g.Server == bare(at) })
	})
}

// Has reports whether there are tokens for a server.
func (t *Tokens) Has(server string) bool {
	at, err := address(server)
	if err != nil {
		return false
	}
	_, ok := t.find(at, "")
	return ok
}

// find returns the latest grant of a server.
func (t *Tokens) find(at *url.URL, client string) (grant, bool) {
	if t == nil {
		return grant{}, false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, g := range slices.Backward(t.grants) {
		if g.Server == bare(at) && (client == "" || g.Client == client) {
			return g, true
		}
	}
	return grant{}, false
}

func (t *Tokens) renewable(at *url.URL, client string) bool {
	g, ok := t.find(at, client)
	return ok && g.Refresh != ""
}

// token returns the token for a server, or nothing. One that expires, or is the one that was refused, is renewed, through
// the proxy of an environment.
func (t *Tokens) token(ctx context.Context, at *url.URL, client, refused string, env []string) (string, error) {
	g, ok := t.find(at, client)
	if !ok || g.fresh(refused) {
		return g.Access, nil
	}
	if g.Refresh == "" {
		return g.Access, nil // the server will say what it thinks of it
	}
	access := ""
	err := t.locked(ctx, func() error {
		if err := t.load(); err != nil {
			return err
		}
		if g, ok = t.find(at, client); !ok || g.fresh(refused) {
			access = g.Access // somebody else renewed it
			return nil
		}
		next, err := g.renew(ctx, newGuarded(at, env))
		if err != nil {
			return err
		}
		access = next.Access
		return t.store(func(all []grant) []grant { return replace(all, next) })
	})
	return access, err
}

func (g grant) fresh(refused string) bool {
	return g.Access != refused && (g.Expires.IsZero() || time.Until(g.Expires) > early)
}

// renew asks for a new token. If that is refused, the person must sign in.
func (g grant) renew(ctx context.Context, c *http.Client) (grant, error) {
	form := url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}, "client_id": {g.Client}, "resource": {g.Resource},
	}
	if g.Secret != "" && !g.InHeader {
		form.Set("client_secret", g.Secret)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, g.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return g, errors.New("renew the token: the address cannot be read")
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Accept", "application/json")
	if g.Secret != "" && g.InHeader {
		request.SetBasicAuth(url.QueryEscape(g.Client), url.QueryEscape(g.Secret))
	}
	response, err := c.Do(request)
	if err != nil {
		return g, fmt.Errorf("renew the token: %w", plain(err))
	}
	defer drop(response)
	if response.StatusCode == http.StatusBadRequest || response.StatusCode == http.StatusUnauthorized {
		return g, fmt.Errorf("renew the token: %w", &AuthError{Status: http.StatusUnauthorized})
	}
	if response.StatusCode != http.StatusOK {
		return g, fmt.Errorf("renew the token: %w", refused(response))
	}
	var answer struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		Seconds int64  `json:"expires_in"`
	}
	if json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&answer) != nil || answer.Access == "" {
		return g, errors.New("renew the token: the answer has none")
	}
	g.Access, g.Expires = answer.Access, time.Time{}
	if answer.Refresh != "" {
		g.Refresh = answer.Refresh
	}
	if answer.Seconds > 0 {
		g.Expires = time.Now().Add(time.Duration(min(answer.Seconds, 1<<31)) * time.Second).UTC()
	}
	return g, nil
}
