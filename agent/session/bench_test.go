package session_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"orchestrator/agent/session"
	"orchestrator/thread"
	"orchestrator/thread/ground/await"
)

// This machine's tmux is the baseline where it is installed; see BenchmarkFlood.

// rssMB is the memory that this process holds, in MB.
func rssMB(b *testing.B) float64 {
	b.Helper()
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skipf("no /proc/self/status: %v", err)
	}
	for l := range strings.Lines(string(raw)) {
		if f := strings.Fields(l); len(f) > 1 && f[0] == "VmRSS:" {
			n, err := strconv.Atoi(f[1])
			if err != nil {
				b.Fatal(err)
			}
			return float64(n) / 1024
		}
	}
	b.Fatal("no VmRSS in the status")
	return 0
}

func threads(b *testing.B) int {
	b.Helper()
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		b.Skipf("no /proc/self/task: %v", err)
	}
	return len(entries)
}

// cpu is the processor time this process has used.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// colouredLines prints lines of about 80 columns in four colours.
const colouredLines = `
line="\033[3%%dm%%06d\033[m a line of \033[1mordinary\033[m text"
line="$line, as agents \033[32mprint\033[m it all day long, now and then\n"
awk -v n=%d -v line="$line" 'BEGIN { for (i = 1; i <= n; i++) printf line, i %% 8, i; print "filled" }'
exec sleep 100000`

// BenchmarkHundred holds 100 sessions with 10,000 filled lines each: memory, threads, what they cost
// while nothing happens, and how long it takes to attach to one and have its screen painted.
func BenchmarkHundred(b *testing.B) {
	all := session.New(session.Config{})
	defer func() {
		if err := all.Close(context.Background(), 0); err != nil {
			b.Error(err)
		}
	}()
	before := rssMB(b)
	var hs []*heard
	for i := range 100 {
		hs = append(hs, start(b, all, thread.ID(fmt.Sprint(i)), fmt.Sprintf(colouredLines, 10_000)))
	}
	for _, h := range hs {
		await.Until(b, "the lines", func() bool { return h.shows("filled") })
	}
	debug.FreeOSMemory()
	rss := rssMB(b)

	used := cpu(b)
	const idle = 5 * time.Second
	time.Sleep(idle) // what is measured is that nothing happens
	used = cpu(b) - used

	var took []time.Duration
	for b.Loop() {
		h := hs[len(took)%len(hs)]
		begin := time.Now()
		v := h.Attach(80, 24, false)
		m := newMirror(v)
		if err := m.follow(context.Background(), func(s string) bool { return strings.Contains(s, "filled") }); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(begin))
		v.Close()
	}
	slices.Sort(took)
	b.ReportMetric(rss, "MB-RSS")
	b.ReportMetric(rss-before, "MB-RSS-of-100")
	b.ReportMetric(float64(threads(b)), "threads")
	b.ReportMetric(float64(used)/float64(idle)*100, "%-of-a-core-idle")
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "ms-attach-p50")
	b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "ms-attach-p95")
}

// BenchmarkFlood lets one agent print much and measures the rate, the memory that it takes, and how long
// a watched neighbour's echo takes meanwhile. ORCHESTRATOR_FLOOD_MB sets how much; 1024 is the gate.
func BenchmarkFlood(b *testing.B) {
	size := 64
	if s := os.Getenv("ORCHESTRATOR_FLOOD_MB"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			b.Fatal(err)
		}
		size = n
	}
	text := filepath.Join(b.TempDir(), "text")
	line := "\x1b[31m0123456789\x1b[m \x1b[1mordinary\x1b[m text, " +
		"as agents \x1b[32mprint\x1b[m it all day long, now and then a line\n"
	if err := os.WriteFile(text, []byte(strings.Repeat(line, 1<<20/len(line))), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, mode := range []string{"unwatched", "watched"} {
		b.Run(mode, func(b *testing.B) {
			all := sessions(b)
			echo := start(b, all, "echo", `stty raw -echo; exec cat`)
			v, err := all.Attach("echo", 80, 24, false)
			if err != nil {
				b.Fatal(err)
			}
			defer v.Close()
			m := newMirror(v)
			runtime.GC()
			before := rssMB(b)
			var echoes []time.Duration
			b.SetBytes(int64(size) << 20)
			for b.Loop() {
				h := start(b, all, "flood", fmt.Sprintf("read x; i=0; while [ $i -lt %d ]; do cat %s; i=$((i+1)); done; "+
					"echo; echo the end; exec sleep 100000", size, text))
				if mode == "watched" {
					w := h.Attach(80, 24, false)
					go func() { // until the viewer is closed
						for {
							if _, err := w.Next(context.Background()); err != nil {
								return
							}
						}
					}()
					defer w.Close()
				}
				if err := h.Input([]byte("\n")); err != nil {
					b.Fatal(err)
				}
				for n := 0; !h.shows("the end"); n++ {
					mark := fmt.Sprintf("%06d", n)
					begin := time.Now()
					if err := v.Input([]byte("\r\n" + mark)); err != nil {
						b.Fatal(err)
					}
					if err := m.follow(context.Background(), func(s string) bool { return strings.Contains(s, mark) }); err != nil {
						b.Fatal(err)
					}
					echoes = append(echoes, time.Since(begin))
					time.Sleep(2 * time.Millisecond) // one types
				}
				if err := h.Stop(context.Background(), 0); err != nil {
					b.Fatal(err)
				}
			}
			if !echo.shows("0") {
				b.Error("nothing was echoed")
			}
			slices.Sort(echoes)
			b.ReportMetric(rssMB(b)-before, "MB-more")
			b.ReportMetric(float64(echoes[len(echoes)/2].Microseconds())/1000, "ms-echo-p50")
			b.ReportMetric(float64(echoes[len(echoes)*95/100].Microseconds())/1000, "ms-echo-p95")
			b.ReportMetric(float64(echoes[len(echoes)*99/100].Microseconds())/1000, "ms-echo-p99")
		})
	}
}
