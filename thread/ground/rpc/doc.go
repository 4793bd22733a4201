// Package rpc speaks JSON-RPC 2.0 with the parts of every message kept byte for byte.
//
// A [Peer] is one side of a connection: it pairs requests with responses in both directions, tells the other side when a
// caller has given up, and ends every waiting call when the connection ends. It knows nothing of MCP but the names of
// the notifications for a cancelled request.
package rpc
