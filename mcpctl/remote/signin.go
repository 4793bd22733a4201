package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"orchestrator/mcpctl/definition"
)

// SignInOptions are how a person signs in.
type SignInOptions struct {
	// Env is the environment (KEY=VALUE) with the proxy and the certificates.
	Env []string
	// Browse opens a page; nil means Browse of this package. That it fails does not end the sign-in.
	Browse func(ctx context.Context, page string) error
	// Show gets the address of the page for people whose browser does not open. It may be nil.
	Show func(page string)
	// Document is the https address of a document that describes this program to servers that accept one; empty for none.
	Document string
}

// clientName is what servers and the person see as who asks.
const clientName = "orchestrator"

// SignIn has the person sign in to a server and keeps the tokens. challenge is that of the AuthError. It returns when the
// person is done or the context ends.
func SignIn(ctx context.Context, l definition.Launch, challenge []string, t *Tokens, o SignInOptions) error {
	if err := signIn(ctx, l, challenge, t, o); err != nil {
		return fmt.Errorf("sign in: %w", withoutAnswer(err))
	}
	return nil
}

func signIn(ctx context.Context, l definition.Launch, challenge []string, t *Tokens, o SignInOptions) error {
	at, err := address(l.URL)
	if err != nil {
		return err
	}
	found := &discovery{next: newGuarded(at, o.Env), resource: bare(at)}
	if l.OAuth.MetadataURL != "" {
		if err := found.configure(ctx, l.OAuth.MetadataURL); err != nil {
			return fmt.Errorf("the configured metadata: %w", err)
		}
		challenge = nil // names others
	}
	back, err := newCallback(l.OAuth.CallbackPort)
	if err != nil {
		return err
	}
	defer back.close()
	var resource string
	config := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL:           back.address(),
		Client:                &http.Client{Transport: found, CheckRedirect: sameHost, Timeout: signInTime},
		RequestRefreshToken:   true,
		AcceptUnadvertisedIss: true,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			page, err := pageOf(args.URL)
			if err != nil {
				return nil, err
			}
			resource = page.Query().Get("resource")
			back.expect(page.Query().Get("state"))
			if o.Show != nil {
				o.Show(args.URL)
			}
			browse := o.Browse
			if browse == nil {
				browse = Browse
			}
			_ = browse(ctx, args.URL) // the address is shown
			return back.wait(ctx)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			g := grant{
				Server: bare(at), Issuer: found.issuerOf(c.Endpoint.TokenURL), Resource: resource, Client: c.ClientID,
				Secret: c.ClientSecret, InHeader: c.Endpoint.AuthStyle == oauth2.AuthStyleInHeader,
				TokenURL: c.Endpoint.TokenURL, Access: token.AccessToken, Refresh: token.RefreshToken, Expires: token.Expiry.UTC(),
			}
			return oauth2.StaticTokenSource(token), t.put(g)
		},
	}
	register(config, l.OAuth, o.Document)
	if scopes := l.OAuth.Scopes; len(scopes) > 0 {
		config.ScopeFilter = func([]string) []string { return scopes }
	}
	handler, err := auth.NewAuthorizationCodeHandler(config)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, bare(at), http.NoBody)
	if err != nil {
		return errors.New("the URL cannot be read")
	}
	response := &http.Response{
		StatusCode: http.StatusUnauthorized, Header: http.Header{"Www-Authenticate": challenge}, Body: http.NoBody, Request: request,
	}
	return handler.Authorize(ctx, request, response)
}

// register tells who we are: the configured client, or a document, or whom the server registers.
func register(config *auth.AuthorizationCodeHandlerConfig, o definition.OAuth, document string) {
	if o.ClientID != "" {
		config.PreregisteredClient = &oauthex.ClientCredentials{ClientID: o.ClientID}
		return
	}
	if document != "" {
		config.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: document}
	}
	config.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{
		Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName:              clientName,
			RedirectURIs:            []string{config.RedirectURL},
			GrantTypes:              []string{"authorization_code", "refresh_token"},
			ResponseTypes:           []string{"code"},
			TokenEndpointAuthMethod: "none",
		},
	}
}

// withoutAnswer takes what a server has answered out of an error: it may repeat what it was sent.
func withoutAnswer(err error) error {
	var answer *oauth2.RetrieveError
	if !errors.As(err, &answer) {
		return err
	}
	code := answer.ErrorCode
	switch code {
	case "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope", "invalid_target":
		return fmt.Errorf("the server gives no token: %s", code)
	default:
		return errors.New("the server gives no token")
	}
}
