package pack

import (
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"orchestrator/checkpoint"
	"orchestrator/thread"
)

// version begins every group and every document. It changes with the seed and with the record's layout.
const version = 2

// maxRaw bounds the unpacked size of one record: its body and a head.
const maxRaw = checkpoint.MaxBody + 16<<20

// groupLimit and groupRecords are how many plain bytes and records a group may have for one more to join it.
const (
	groupLimit   = 256 << 10
	groupRecords = 128
)

// docWindow is how far back the compression of a document looks; each goroutine that compresses has as much memory.
// Nearly all documents are much shorter.
const docWindow = 256 << 10

// coders is how many goroutines compress documents, or unpack, at once.
const coders = 4

// frameEnd closes a frame that is still open: an empty last block.
var frameEnd = []byte{1, 0, 0}

// codec packs and unpacks documents, and unpacks groups.
type codec struct {
	pack   *zstd.Encoder // of documents
	unpack *zstd.Decoder // of documents
	groups *zstd.Decoder
}

func newCodec() *codec {
	var c codec
	var err [3]error
	c.pack, err[0] = newEncoder(zstd.WithEncoderConcurrency(coders), zstd.WithWindowSize(docWindow),
		zstd.WithEncoderDictRaw(version, seed()))
	c.unpack, err[1] = newDecoder(zstd.WithDecoderDictRaw(version, seed()))
	c.groups, err[2] = newDecoder()
	for _, e := range err {
		if e != nil {
			panic(e) // the options are fixed
		}
	}
	return &c
}

func newEncoder(o ...zstd.EOption) (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, append([]zstd.EOption{zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false),
		zstd.WithLowerEncoderMem(true)}, o...)...)
}

func newDecoder(o ...zstd.DOption) (*zstd.Decoder, error) {
	return zstd.NewReader(nil, append([]zstd.DOption{zstd.WithDecoderConcurrency(coders), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxRaw)}, o...)...)
}

// doc packs a document.
func (c *codec) doc(raw []byte) []byte {
	return c.pack.EncodeAll(raw, append(make([]byte, 0, 64+len(raw)/2), version))
}

// undoc unpacks a document.
func (c *codec) undoc(data []byte) ([]byte, error) {
	if len(data) == 0 || data[0] != version {
		return nil, fmt.Errorf("unknown format: %w", thread.ErrDamaged)
	}
	raw, err := c.unpack.DecodeAll(data[1:], nil)
	if err != nil {
		return nil, fmt.Errorf("expand: %w: %w", err, thread.ErrDamaged)
	}
	return raw, nil
}

// ungroup unpacks the pieces of a group, from its first on, to about size bytes.
func (c *codec) ungroup(pieces [][]byte, size int) ([]byte, error) {
	if len(pieces[0]) == 0 || pieces[0][0] != version {
		return nil, fmt.Errorf("unknown format: %w", thread.ErrDamaged)
	}
	whole := slices.Concat(append(slices.Clone(pieces), frameEnd)...)
	raw, err := c.groups.DecodeAll(whole[1:], make([]byte, 0, min(max(size, 0), 2*groupLimit)+64))
	if err != nil {
		return nil, fmt.Errorf("expand: %w: %w", err, thread.ErrDamaged)
	}
	return raw, nil
}

// seed is the dictionary of documents: text that nearly all of them contain. It is part of the format and must not
// change within a version.
var seed = sync.OnceValue(func() []byte { return []byte(seedText) })

const seedText = `{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_01","type":"tool_result","content":"","is_error":false}]},"uuid":"","timestamp":"2026-01-01T00:00:00.000Z","toolUseResult":{"stdout":"","stderr":"","interrupted":false,"isImage":false}}
{"parentUuid":null,"isSidechain":false,"userType":"external","cwd":"/","sessionId":"","version":"2.1.330","gitBranch":"main","type":"assistant","message":{"model":"claude-","id":"msg_01","type":"message","role":"assistant","content":[{"type":"thinking","thinking":"","signature":""}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":0,"service_tier":"standard"}},"requestId":"req_01"}
{"timestamp":"","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"\"]}","call_id":"call_"}}{"type":"function_call_output","call_id":"call_","output":"{\"output\":\"\",\"metadata\":{\"exit_code\":0,\"duration_seconds\":0.1}}"}
{"type":"message","role":"developer","content":[{"type":"input_text","text":""}]}{"role":"assistant","content":[{"type":"output_text","text":""}]}{"role":"tool","tool_call_id":"call_","content":""}{"role":"model","parts":[{"functionCall":{"name":"","args":{}}},{"functionResponse":{"name":"","response":{"output":""}}},{"text":""}]}
{"role":"assistant","content":[{"type":"text","text":""},{"type":"tool_use","id":"toolu_01","name":"Bash","input":{"command":"","description":""}},{"type":"tool_use","id":"toolu_01","name":"Edit","input":{"file_path":"/","old_string":"","new_string":""}},{"name":"Read"}]}
{"id":"","name":"","label":"","parent":"","forkPoint":"","head":"","turn":1,"agent":"claude","model":"claude-","session":"","launch":{"args":[],"env":[],"permissionMode":"","noGateway":true},"dir":"/home/","worktree":{"path":"/.orchestrator/worktrees/","branch":"orchestrator/","base":""},"created":"2026-","updated":"2026-","seen":false,"gauge":{"tokens":0,"window":200000,"model":"","estimated":false,"costUSD":0,"source":"gateway"},"usage":{"input":0,"cacheRead":0,"cacheWrite":0,"output":0,"costUSD":0,"priced":true},"handoff":{"taskId":"","threadId":"","description":"","contextSummary":"","enabledMcps":[],"checkpointId":"","metadata":{"parentThreadId":"","forkPoint":1,"tokenBudget":0}}}
{"c":{"id":"","thread":"","parent":"","seq":0,"turn":1,"kind":"response","created":"2026-01-01T00:00:00.000000000Z","prompt":"","answer":"","model":"claude-","stop":"tool_use","usage":{"input":0,"cacheRead":0,"cacheWrite":0,"output":0,"costUSD":0,"priced":true},"gauge":{"tokens":0,"window":200000,"model":"claude-","estimated":false,"costUSD":0,"source":"gateway"},"session":"","items":0,"snapshot":{"commit":"","tree":"","base":"","files":0,"insertions":0,"deletions":0}},"k":1,"i":[{"w":"anthropic","l":1}],"f":[{"n":"main","a":1,"l":1}],"m":[{"n":"main","s":1,"h":""}],"u":true}
`
