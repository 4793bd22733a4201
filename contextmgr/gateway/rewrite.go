package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"orchestrator/contextmgr/models"
	"orchestrator/contextmgr/wire"
	"orchestrator/thread"
)

// rewriting asks the rewriter.
type rewriting struct {
	rewriter Rewriter
	models   models.Table
	log      *slog.Logger
	unpacker *unpacker
}

// signed reports whether a request's header vouches for its body, as with the signatures of AWS: with another body the
// provider would refuse it.
func signed(header http.Header) bool {
	for _, name := range []string{
		"X-Amz-Content-Sha256", "Content-Md5", "Digest", "Content-Digest", "Signature", "X-Goog-Content-Sha256",
	} {
		if header.Get(name) != "" {
			return true
		}
	}
	return strings.HasPrefix(header.Get("Authorization"), "AWS4-")
}

// rewrite returns what is sent in place of a request, and the request's body without compression if it had to be
// unpacked; nil otherwise. An error says why it cannot be read: then it is forwarded as it is.
func (w *rewriting) rewrite(
	ctx context.Context, rt *route, codec wire.Codec, to *url.URL, header http.Header, body []byte, held *hold,
) (rewritten Rewritten, plain []byte, unreadable error) {
	if w.rewriter == nil || codec == nil || len(body) == 0 || signed(header) {
		return Rewritten{}, nil, nil
	}
	defer func() {
		if p := recover(); p != nil {
			rewritten = Rewritten{}
			w.log.Error("rewriting a request panicked", "wire", codec.Wire(), "type", fmt.Sprintf("%T", p))
			if rt.shown.due("rewriting panicked", time.Now(), 0) {
				rt.notice(thread.LevelWarn, "a request of this thread was sent unchanged, because deciding what to mask failed")
			}
		}
	}()
	call := wire.Call{Path: to.Path, Query: to.RawQuery, Header: header, Body: body}
	if enc := codings(header["Content-Encoding"]); len(enc) > 0 {
		var err error
		if plain, err = w.unpacker.body(ctx, held, enc, body); err != nil {
			return Rewritten{}, nil, err
		}
		call.Body = plain
	}
	rewritten = w.rewriter.Rewrite(ctx, Outgoing{
		Thread: rt.id, Codec: codec, Call: call, To: to,
		Window: func(model string, long bool, used int64) int64 { return rt.window(w.models, model, long, used) },
		Notice: rt.notice,
	})
	return rewritten, plain, nil
}
