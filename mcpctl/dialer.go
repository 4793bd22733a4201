package mcpctl

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"orchestrator/mcpctl/definition"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/remote"
	"orchestrator/thread/ground/rpc"
)

// Dialer connects to remote servers, and has people sign in to them.
type Dialer struct {
	tokens *remote.Tokens

	mu         sync.Mutex          // guards challenges
	challenges map[string][]string // of the last refusal, by URL
}

// NewDialer returns a dialer that keeps what people get by signing in among tokens.
func NewDialer(tokens *remote.Tokens) *Dialer {
	return &Dialer{tokens: tokens, challenges: map[string][]string{}}
}

// Dial connects to a server, through the proxy of an environment.
func (d *Dialer) Dial(ctx context.Context, l definition.Launch, env []string) (rpc.Stream, error) {
	s, err := remote.Dial(ctx, l, remote.Options{Tokens: d.tokens, Env: env})
	if err != nil {
		return nil, d.noted(l.URL, err)
	}
	return &noted{Stream: s, dialer: d, url: l.URL}, nil
}

// noted returns an error as the hub knows it, and keeps what the server wants for signing in.
func (d *Dialer) noted(url string, err error) error {
	if !errors.Is(err, remote.ErrAuth) {
		return err
	}
	if refused := (*remote.AuthError)(nil); errors.As(err, &refused) {
		d.mu.Lock()
		d.challenges[url] = refused.Challenge
		d.mu.Unlock()
	}
	return fmt.Errorf("%w: %w", err, hub.ErrNeedsAuth)
}

// noted is a stream whose refusals are noted.
type noted struct {
	rpc.Stream
	dialer *Dialer
	url    string
}

// Read implements rpc.Stream.
func (n *noted) Read() (rpc.Message, error) {
	m, err := n.Stream.Read()
	if err != nil {
		err = n.dialer.noted(n.url, err)
	}
	return m, err
}

// Write implements rpc.Stream.
func (n *noted) Write(ctx context.Context, m rpc.Message) error {
	err := n.Stream.Write(ctx, m)
	if err != nil {
		err = n.dialer.noted(n.url, err)
	}
	return err
}

// signInLimit is how long a person has to sign in, pageLimit how long it may take to find out where.
const (
	signInLimit = 10 * time.Minute
	pageLimit   = 30 * time.Second
)

// SignIn begins to sign in to a server: the page is opened in the browser, and returned for people who have none here.
// done is called when the person is done, or gave up.
func (d *Dialer) SignIn(ctx context.Context, l definition.Launch, env []string, done func(error)) (page string, err error) {
	d.mu.Lock()
	challenge := d.challenges[l.URL]
	d.mu.Unlock()
	pages := make(chan string, 1)
	ended := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, signInLimit)
		defer cancel()
		err := remote.SignIn(ctx, l, challenge, d.tokens, remote.SignInOptions{Env: env, Show: func(page string) {
			select {
			case pages <- page:
			default:
			}
		}})
		ended <- err
		done(err)
	}()
	select {
	case page = <-pages:
		return page, nil
	case err = <-ended:
		return "", err
	case <-time.After(pageLimit):
		return "", errors.New("the server has not said where to sign in")
	}
}
