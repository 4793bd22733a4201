package remote

import (
	"errors"
	"fmt"
	"net/http"
)

// ErrAuth is wrapped by errors of calls that a server refuses until the person has signed in, see [AuthError].
var ErrAuth = errors.New("sign-in needed")

// ErrGone is why a stream ends whose session the server has forgotten: a new one must be opened and initialized.
var ErrGone = errors.New("the server has ended the session")

// AuthError is a server's refusal for want of credentials.
type AuthError struct {
	Status    int      // 401 or 403
	Challenge []string // its WWW-Authenticate headers, which SignIn needs
}

// Error implements error. It does not show what the server says.
func (e *AuthError) Error() string {
	return fmt.Sprintf("%v (%d %s)", ErrAuth, e.Status, http.StatusText(e.Status))
}

// Unwrap makes it an ErrAuth.
func (e *AuthError) Unwrap() error { return ErrAuth }
