"""Neutron's API in one process, without those that serve agents: there are none."""
import sys

sys.argv[0] = 'neutron-server'
import neutron.cmd.eventlet.server  # noqa: E402,F401  eventlet's patches come first
from neutron import server, service  # noqa: E402

server.boot_server(lambda: service.serve_wsgi(service.NeutronApiService).wait())
