package manager

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"orchestrator/thread"
	"orchestrator/thread/watchlist"
)

// watch is the step before a start that reports agent configuration files that changed since an agent last started in
// the folder: another agent may have written them. It reports a change once, and blocks nothing.
func (l *run) watch(ctx context.Context, spec thread.LaunchSpec) {
	t := l.live.thread()
	root := l.cfg.rootOf(t)
	now, err := watchlist.Scan(root, t.Dir, configFiles(l.cfg.Agents))
	if err != nil {
		l.cfg.Log.Warn("scan agent configuration files", "thread", string(l.live.id), "err", err)
		return
	}
	before, in := lastScan(ctx, l.cfg.Store, t.Dir), root
	changes := watchlist.Changes(before.State, now)
	if before.At.IsZero() {
		// A new worktree inherits what was accepted where it comes from.
		if p := l.index.other(t.Parent); p != nil {
			pt := p.thread()
			before, in = lastScan(ctx, l.cfg.Store, pt.Dir), l.cfg.rootOf(pt)
		}
		if before.At.IsZero() && spec.Origin != "" {
			before, in = lastScan(ctx, l.cfg.Store, spec.Origin), l.cfg.Project
		}
		changes = watchlist.WithoutGone(watchlist.Changes(before.State, now))
	}
	if !before.At.IsZero() && len(changes) > 0 {
		ran, err := l.index.ranSince(in, before, t)
		if err != nil {
			l.cfg.Log.Warn("find out which agents ran", "thread", string(l.live.id), "err", err)
		}
		l.notices.post(l.live.id, thread.LevelWarn, "%s: agent configuration files changed: %s",
			t.DisplayName(), watchlist.Message(changes, ran))
	}
	raw, err := json.Marshal(watchlist.Record{At: l.cfg.now(), State: now})
	if err == nil {
		err = l.cfg.Store.SetSetting(ctx, watchKey(t.Dir), string(raw))
	}
	if err != nil {
		l.cfg.Log.Warn("store the scan of agent configuration files", "thread", string(l.live.id), "err", err)
	}
}

// lastScan returns the last scan of a folder, the zero one if there was none.
func lastScan(ctx context.Context, store thread.Store, dir string) watchlist.Record {
	var r watchlist.Record
	raw, err := store.Setting(ctx, watchKey(dir))
	if err == nil && raw != "" && json.Unmarshal([]byte(raw), &r) != nil {
		return watchlist.Record{} // only we write it; the next scan replaces it
	}
	return r
}

// watchKey is the setting that stores the last scan of a folder.
func watchKey(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return "watch:" + hex.EncodeToString(sum[:12])
}

// configFiles names the files that configure any agent: what one writes, another may read.
func configFiles(agents thread.Agents) []string {
	names := slices.Clone(watchlist.Editors)
	for _, name := range agents.Names() {
		agent, err := agents.Agent(name)
		if o, ok := agent.(thread.ConfigFiles); ok && err == nil {
			names = append(names, o.ConfigFiles()...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
