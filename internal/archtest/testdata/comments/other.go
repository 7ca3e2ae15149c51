package holdshort
