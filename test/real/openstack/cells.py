"""Makes Nova's databases and its one cell, in one process. Arguments: nova.conf, and
the URL of the database of cell 0."""
import sys

settings, cell0 = sys.argv[1:3]
sys.argv = ['nova-manage', '--config-file', settings]
from nova.cmd import manage  # noqa: E402
from nova import config, objects  # noqa: E402

config.parse_args(sys.argv)
manage.logging.setup(manage.CONF, 'nova')
objects.register_all()
for step in (lambda: manage.ApiDbCommands().sync(),
             lambda: manage.CellV2Commands().map_cell0(database_connection=cell0),
             lambda: manage.DbCommands().sync(),
             lambda: manage.CellV2Commands().create_cell(name='cell1')):
    failed = step()
    if failed:
        sys.exit('making the cells of Nova: a step failed: %s' % failed)
