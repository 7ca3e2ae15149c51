package main

import (
	"github.com/alecthomas/kong"
	"github.com/holdshort/holdshort/api"
	"github.com/holdshort/holdshort/internal/testpg" // want `is for tests`
	"github.com/holdshort/holdshort/store/postgres"
)
