package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"orchestrator/cmd/orchestrator/buildinfo"
	"orchestrator/mcpctl"
	"orchestrator/mcpctl/discovery"
	"orchestrator/mcpctl/gateway"
	"orchestrator/mcpctl/hub"
	"orchestrator/mcpctl/manifest"
	"orchestrator/mcpctl/match"
	"orchestrator/mcpctl/process"
	"orchestrator/mcpctl/remote"
	mcptrust "orchestrator/mcpctl/trust"
	"orchestrator/thread"
	"orchestrator/thread/api"
	"orchestrator/thread/frozen"
	"orchestrator/thread/grant"
	"orchestrator/thread/ground/rpc"
	"orchestrator/thread/private"
)

// openMCP opens the control of MCP servers. Nothing is started before an agent or a person calls for it.
func (a *Server) openMCP(context.Context) error {
	folder, err := private.Make(a.Project.StateDir(), "mcp")
	if err != nil {
		return fmt.Errorf("open the MCP servers: %w", err)
	}
	a.onClose(folder.Close)
	registered, err := registeredName(folder)
	if err != nil {
		a.Log.Warn("keep the name of the MCP server", "error", err) // the disk may be full: this run has one all the same
	}
	processes, err := process.New(filepath.Join(a.Project.StateDir(), "mcp"), a.Config.MaxProcesses)
	if err != nil {
		return fmt.Errorf("open the MCP servers: %w", err)
	}
	a.onClose(processes.Close)
	manifests, err := manifest.OpenCache(filepath.Join(a.Project.StateDir(), "mcp"))
	if err != nil {
		return fmt.Errorf("open the lists of MCP servers: %w", err)
	}
	a.onClose(manifests.Close)
	memory, err := match.OpenMemory(folder, "tasks")
	if err != nil {
		return fmt.Errorf("open what tasks used of MCP servers: %w", err)
	}
	copies, err := frozen.Open(a.Project.StateDir(), "accepted")
	if err != nil {
		return err
	}
	a.onClose(copies.Close)
	own, err := private.Make(a.StateHome, "orchestrator")
	if err != nil {
		return fmt.Errorf("open the tokens of MCP servers: %w", err)
	}
	a.onClose(own.Close)
	tokensOf, err := remote.OpenTokens(own, "mcp-tokens.json")
	if err != nil {
		return fmt.Errorf("open the tokens of MCP servers: %w", err)
	}
	values, err := valuesKey(own)
	if err != nil {
		a.Log.Warn("keep the key of what MCP servers take from environments", "error", err) // this run asks about them again
	}
	dialer := mcpctl.NewDialer(tokensOf)
	threads := mcpThreads{a}
	a.mcp = mcpctl.New(mcpctl.Config{
		Project: a.Project.Root, Off: !a.Config.MCP, Places: a.mcpPlaces(values), Trust: mcptrust.Open(a.StateHome), Copies: copies, Threads: threads, Memory: memory, Env: a.Env,
		Takes:  func(agent string) bool { return a.agents.TakesServers(agent) },
		Hub:    hub.Config{Processes: processes, Manifests: manifests, Dial: dialer.Dial, Name: "orchestrator", Version: buildinfo.Version()},
		Bridge: []string{a.Program.Path, "mcp-bridge", a.Project.Socket}, Registered: registered,
		Tokens: a.counter.Count, CacheCost: a.cacheCost, SignIn: dialer.SignIn, Log: a.Log,
	})
	a.onClose(func() error {
		ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
		defer cancel()
		return a.mcp.Close(ctx)
	})
	a.mcpGateway = gateway.New(gateway.Config{Servers: a.mcp, Stager: mcpStager{a}, Work: partTools{a}, Version: buildinfo.Version(), Log: a.Log})
	a.onClose(a.mcpGateway.Close)
	a.mcp.Use(a.mcpGateway)
	a.service(a.mcp.Run)
	return nil
}

// mcpPlaces are where MCP servers are configured. The key is that of the values in their hashes.
func (a *Server) mcpPlaces(key []byte) discovery.Places {
	worktrees, err := a.Project.Worktrees(a.Config.Worktrees)
	if err != nil { // it is named where threads are opened
		worktrees = a.Project.StateDir()
	}
	return discovery.Places{
		Agents: []string{worktrees}, Sums: frozen.NewSums(), Key: key,
		Project: a.Project.Root, Home: thread.Lookup(a.Env, "HOME"), Claude: thread.Lookup(a.Env, "CLAUDE_CONFIG_DIR"),
		Codex: thread.Lookup(a.Env, "CODEX_HOME"), Gemini: thread.Lookup(a.Env, "GEMINI_CLI_HOME"),
		OpenCodeConfig: thread.Lookup(a.Env, "OPENCODE_CONFIG"), Config: filepath.Join(a.ConfigHome, "orchestrator"),
		Lookup: func(name string) (string, bool) { v := thread.Lookup(a.Env, name); return v, v != "" },
	}
}

// valuesKey returns the person's key for the values in the hashes of servers, made once: by a hash that an agent sees, it
// cannot try values.
func valuesKey(folder *private.Folder) ([]byte, error) {
	const file, size = "mcp-values", 32
	key, err := folder.Read(file, size)
	if err == nil && len(key) == size {
		return key, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	key = make([]byte, size)
	rand.Read(key) // never fails
	if err == nil {
		switch err = folder.Create(file, key); {
		case errors.Is(err, fs.ErrExist): // another server has just made it
			if made, err := folder.Read(file, size); err == nil && len(made) == size {
				return made, nil
			}
			err = folder.Write(file, key)
		}
	}
	return key, err
}

// registeredName returns the name of the one server for agents into whose configuration a repository could merge: made
// once for a project, and kept out of its reach. It is always the same, so that a conversation names the same tools.
func registeredName(folder *private.Folder) (string, error) {
	const file = "name"
	b, err := folder.Read(file, 64)
	if err == nil && len(b) == len(gateway.Name)+8 {
		return string(b), nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	var random [4]byte
	rand.Read(random[:]) // never fails
	name := gateway.Name + hex.EncodeToString(random[:])
	return name, errors.Join(err, folder.Write(file, []byte(name)))
}

// cacheCost returns what a thread's provider reads again if the agent's tools change, as they stand before everything
// else in a request.
func (a *Server) cacheCost(id thread.ID) (tokens int64, usd float64) {
	s, err := a.manager.Threads.Status(context.Background(), string(id))
	if err != nil {
		return 0, 0
	}
	tokens = s.Gauge.Tokens
	written, priced := knownModels{a.models}.Cost(s.Model, thread.Usage{CacheWrite: tokens})
	read, _ := knownModels{a.models}.Cost(s.Model, thread.Usage{CacheRead: tokens})
	if !priced {
		return tokens, 0
	}
	return tokens, max(0, written-read)
}

// mcpThreads adapts the manager.
type mcpThreads struct{ app *Server }

// Find implements mcpctl.Threads.
func (t mcpThreads) Find(ref string) (thread.Thread, error) {
	if t.app.manager == nil {
		return thread.Thread{}, fmt.Errorf("the server is starting: %w", thread.ErrNotRunning)
	}
	s, err := t.app.manager.Threads.Status(context.Background(), ref)
	return s.Thread, err
}

// Environ implements mcpctl.Threads.
func (t mcpThreads) Environ(id thread.ID) []string {
	if t.app.manager == nil {
		return nil
	}
	return t.app.manager.Threads.Environ(id)
}

// Working implements mcpctl.Threads.
func (t mcpThreads) Working(id thread.ID) bool {
	s, err := t.app.manager.Threads.Status(context.Background(), string(id))
	return err == nil && s.Execution != nil && s.State.State != thread.StateIdle && s.State.State != thread.StateDone
}

// Running implements mcpctl.Threads.
func (t mcpThreads) Running() []thread.ID {
	if t.app.manager == nil {
		return nil
	}
	return t.app.manager.Threads.Running()
}

// SetMCP implements mcpctl.Threads.
func (t mcpThreads) SetMCP(
	ctx context.Context, ref string, next func(thread.MCPSwitches) thread.MCPSwitches,
) error {
	return t.app.manager.Lifecycle.SetMCP(ctx, ref, next)
}

// Suggest implements mcpctl.Threads.
func (t mcpThreads) Suggest(id thread.ID, server, why string) {
	t.app.manager.Offers.SuggestMCP(id, server, why)
}

// Changed implements mcpctl.Threads.
func (t mcpThreads) Changed(id thread.ID) {
	if t.app.manager != nil {
		t.app.manager.Threads.MCPChanged(id)
	}
}

// Notice implements mcpctl.Threads.
func (t mcpThreads) Notice(id thread.ID, level thread.Level, text string) {
	t.app.manager.Traffic.Tell(id, thread.Notice{Level: level, Text: text, Kind: thread.HappenedMCP})
}

// Prompts implements mcpctl.Threads.
func (t mcpThreads) Prompts(ctx context.Context, limit int) ([]string, error) {
	list, err := t.app.manager.Prompts.Newest(ctx, "", false, limit)
	var texts []string
	for _, p := range list {
		texts = append(texts, p.Text)
	}
	return texts, err
}

// mcpStager stages large results, and reads what is staged or masked.
type mcpStager struct{ app *Server }

// Stage implements gateway.Stager.
func (s mcpStager) Stage(ctx context.Context, r thread.StageRequest, data io.Reader) (thread.Staged, error) {
	return s.app.staging.Stage(ctx, r, data)
}

// Read implements gateway.Stager.
func (s mcpStager) Read(ctx context.Context, id thread.ID, token string, part thread.Selection, to io.Writer) error {
	data, err := s.app.daemon.Retrieve(ctx, grant.Caller{Agent: true, Thread: id}, api.RetrieveRequest{Token: token, Part: part})
	if err != nil {
		return err
	}
	defer data.Close()
	_, err = data.WriteTo(to)
	return err
}

// serveMCP serves a thread's agent over a connection until it ends, and closes it.
func (a *Server) serveMCP(id thread.ID, connection io.ReadWriteCloser) error {
	t, err := mcpThreads{a}.Find(string(id))
	if err != nil {
		_ = connection.Close()
		return err
	}
	return a.mcpGateway.Serve(id, t.Dir, rpc.NewLines(connection, connection, connection, nil))
}
