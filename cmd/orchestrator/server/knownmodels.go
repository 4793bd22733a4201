package server

import (
	"orchestrator/contextmgr/models"
	"orchestrator/thread"
)

// knownModels has windows and prices for threads that bypass the gateway.
type knownModels struct{ table models.Table }

func (k knownModels) Window(model string, used int64, agents map[string]int64) int64 {
	return k.table.Window(model, false, used, agents)
}

func (k knownModels) Cost(model string, u thread.Usage) (usd float64, priced bool) {
	return k.table.Cost(model, models.Tokens{
		Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, CacheWriteHr: u.CacheWriteHour, Output: u.Output,
	})
}
