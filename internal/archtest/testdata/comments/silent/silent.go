package silent // want `begins "Package silent"`
