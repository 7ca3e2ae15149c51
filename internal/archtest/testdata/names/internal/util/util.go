package util // want `"util" says nothing`
