package postgres

import (
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"orchestrator/checkpoint/pack"
	"orchestrator/thread"
)

const (
	// space is the PostgreSQL schema of all tables.
	space = "orchestrator"
	// connections is the most that one server uses.
	connections = 8
)

// Options say whose store it is.
type Options struct {
	// Project names the project; servers with the same name share it.
	Project string
	// Host identifies this server within the project, and stays the same over restarts.
	Host string
	// Alone refuses to open it while another server has it open with the same host, and has the store count as away if
	// that gets in while the database was.
	Alone bool
	// Limit is how long one call may take, however much the database sends; 0 means a minute.
	Limit time.Duration
	// Silence is how long the database may send nothing before it counts as away; 0 means five seconds.
	Silence time.Duration
}

// Store implements thread.Store.
type Store struct {
	*pack.Reader // of single checkpoints

	pool    *pgxpool.Pool
	packer  *pack.Packer
	about   string // for people, without the password
	project int64
	host    string
	limit   time.Duration
	// presence knows whether the database answers.
	presence *presence
	holder   *holder // of the host's name, nil if others may have it too
}

var _ thread.Store = (*Store)(nil)
