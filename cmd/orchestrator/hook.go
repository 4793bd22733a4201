package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/spf13/cobra"
)

// maxHook bounds what an agent's hook hands over.
const maxHook = 4 << 20

// hookVerb passes an agent's hook report on to the gateway. It never fails the agent's turn.
func (c *cli) hookVerb() *cobra.Command {
	return &cobra.Command{
		Use: "hook <event>", Short: "Pass an agent's hook report on", Hidden: true, Args: exactly("<event>"),
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil },
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.hook(args[0]); err != nil {
				fmt.Fprintf(c.stderr, "orchestrator hook: %v\n", err)
			}
			return nil
		},
	}
}

func (c *cli) hook(event string) error {
	base := lookup(c.environ, "ORCHESTRATOR_HOOK_URL")
	u, err := url.Parse(base)
	if err != nil || base == "" {
		return fmt.Errorf("ORCHESTRATOR_HOOK_URL is not set")
	}
	if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("ORCHESTRATOR_HOOK_URL is not on this machine")
	}
	payload, err := io.ReadAll(io.LimitReader(c.stdin, maxHook))
	if err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	// Its own transport: a proxy from the environment must not see the secret address.
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{}}
	res, err := client.Post(base+"/"+url.PathEscape(event), "application/json", bytes.NewReader(payload))
	if err != nil {
		return fmt.Errorf("report %s: the gateway does not answer", event)
	}
	return res.Body.Close()
}
