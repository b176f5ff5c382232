# barbican.api.app.get_api_wsgi_script() knows only /etc/barbican; this is the same
# with another path. barbican.conf is found in $HOME/.barbican.
import os
from paste import deploy
import barbican.api.app  # noqa: it registers the options
application = deploy.loadapp('config:' + os.environ['HOME'] + '/barbican/barbican-api-paste.ini')
