package pack

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

// version leads every compressed record and document. It changes with the seed and with the record's layout.
const version = 1

// maxRaw bounds what one record may hold when it is unpacked: its body and a head beside it.
const maxRaw = checkpoint.MaxBody + 16<<20

// coders is how many encoders and decoders exist at most; each holds about a megabyte.
const coders = 4

// codec compresses with a dictionary that differs each time. Making an encoder costs more than the compression
// of a typical record, so a few are kept.
type codec struct {
	enc chan *zstd.Encoder // nil entries are made at first use
	dec chan *zstd.Decoder
}

func newCodec() *codec {
	c := &codec{enc: make(chan *zstd.Encoder, coders), dec: make(chan *zstd.Decoder, coders)}
	for range coders {
		c.enc <- nil
		c.dec <- nil
	}
	return c
}

// compress appends nothing to dict; a nil dict is the seed.
func (c *codec) compress(raw, dict []byte) ([]byte, error) {
	if len(dict) == 0 {
		dict = seed()
	}
	e := <-c.enc
	defer func() { c.enc <- e }()
	opt := zstd.WithEncoderDictRaw(version, dict)
	out := bytes.NewBuffer(append(make([]byte, 0, 64+len(raw)/2), version))
	var err error
	if e == nil {
		e, err = zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderCRC(false), zstd.WithLowerEncoderMem(true), opt)
	} else {
		err = e.ResetWithOptions(out, opt)
	}
	if err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	// The streaming side reads the dictionary once; EncodeAll after a reset would read it twice.
	_, err = e.Write(raw)
	if err := errors.Join(err, e.Close()); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return out.Bytes(), nil
}

func (c *codec) expand(data, dict []byte) ([]byte, error) {
	if len(data) == 0 || data[0] != version {
		return nil, fmt.Errorf("unknown format: %w", thread.ErrDamaged)
	}
	if len(dict) == 0 {
		dict = seed()
	}
	d := <-c.dec
	defer func() { c.dec <- d }()
	opt := zstd.WithDecoderDictRaw(version, dict)
	var err error
	if d == nil {
		d, err = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxRaw), opt)
	} else {
		err = d.ResetWithOptions(nil, opt)
	}
	if err != nil {
		return nil, fmt.Errorf("expand: %w", err)
	}
	raw, err := d.DecodeAll(data[1:], nil)
	if err != nil {
		return nil, fmt.Errorf("expand: %w: %w", err, thread.ErrDamaged)
	}
	return raw, nil
}

// seed is the dictionary of records and documents that have no other: text that nearly all of them hold. It is
// part of the format and must not change within a version.
var seed = sync.OnceValue(func() []byte { return []byte(seedText) })

const seedText = `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_01","type":"tool_result","content":"","is_error":false}]},"uuid":"","timestamp":"2026-01-01T00:00:00.000Z","toolUseResult":{"stdout":"","stderr":"","interrupted":false,"isImage":false}}
{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/","sessionId":"","version":"2.1.330","gitBranch":"main","type":"assistant","message":{"model":"claude-","id":"msg_01","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"","signature":""}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0,"service_tier":"standard"}},"requestId":"req_01"}
{"timestamp":"","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"\"]}","call_id":"call_"}}{"type":"function_call_output","call_id":"call_","output":"{\"output\":\"\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}
{"type":"message","role":"developer","content":[{"type":"input_text","text":""}]}{"role":"assistant","content":[{"type":"output_text","text":""}]}{"role":"tool","tool_call_id":"call_","content":""}{"role":"model","parts":[{"functionCall":{"name":"","args":{}}},{"functionResponse":{"name":"","response":{"output":""}}},{"text":""}]}
{"role":"assistant","content":[{"type":"text","text":""},{"type":"tool_use","id":"toolu_01","name":"Bash","input":{"command":"","description":""}},{"type":"tool_use","id":"toolu_01","name":"Edit","input":{"file_path":"/","old_string":"","new_string":""}},{"name":"Read"}]}
{"id":"","name":"","label":"","parent":"","forkPoint":"","head":"","turn":1,"agent":"claude","model":"claude-","session":"","launch":{"args":[],"env":[],"permissionMode":"","noGateway":true},"dir":"/home/","worktree":{"path":"/.orchestrator/worktrees/","branch":"orchestrator/","base":""},"created":"2026-","updated":"2026-","seen":false,"gauge":{"tokens":0,"window":200000,"model":"","estimated":false,"costUSD":0,"source":"gateway"},"usage":{"input":0,"cacheRead":0,"cacheWrite":0,"output":0,"costUSD":0,"priced":true},"handoff":{"taskId":"","threadId":"","description":"","contextSummary":"","enabledMcps":[],"checkpointId":"","metadata":{"parentThreadId":"","forkPoint":1,"tokenBudget":0}}}
{"c":{"id":"","thread":"","parent":"","seq":0,"turn":1,"kind":"response","created":"2026-01-01T00:00:00.000000000Z","prompt":"","answer":"","model":"claude-","stop":"tool_use","usage":{"input":0,"cacheRead":0,"cacheWrite":0,"output":0,"costUSD":0,"priced":true},"gauge":{"tokens":0,"window":200000,"model":"claude-","estimated":false,"costUSD":0,"source":"gateway"},"session":"","items":0,"snapshot":{"commit":"","tree":"","base":"","files":0,"insertions":0,"deletions":0}},"k":1,"i":[{"w":"anthropic","l":1}],"f":[{"n":"main","a":1,"l":1}],"m":[{"n":"main","s":1,"h":""}],"u":true}
`
