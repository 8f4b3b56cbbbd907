"""A headless Chromium, driven through its debugging pipe: no port, no package beyond Python."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

LIMIT = 90  # seconds; a loaded machine is slow, and only a hang takes this long


class Browser:
    @staticmethod
    def program():
        return next((p for p in (shutil.which(n) for n in ('chromium', 'chromium-browser', 'google-chrome')) if p), None)

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix='weir-browser-')
        to_read, self.to = os.pipe()
        self.from_, to_write = os.pipe()

        def descriptors():  # the browser reads commands from 3 and writes answers to 4
            a, b = os.dup2(to_read, 200), os.dup2(to_write, 201)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.log = open(os.path.join(self.home, 'log'), 'wb')
        self.process = subprocess.Popen(
            [self.program(), '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
             '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-default-browser-check',
             '--hide-scrollbars', '--remote-debugging-pipe', f'--user-data-dir={self.home}/profile', 'about:blank'],
            preexec_fn=descriptors, close_fds=False, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env={**os.environ, 'HOME': self.home})
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.events, self.session, self.visits = b'', 0, [], None, 0
        target = self.call('Target.createTarget', url='about:blank')['targetId']
        self.session = self.call('Target.attachToTarget', targetId=target, flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.call(domain + '.enable')

    def message(self, limit):
        end = time.monotonic() + limit
        while b'\0' not in self.buffer:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.from_], [], [], left)[0]:
                raise TimeoutError('the browser does not answer')
            piece = os.read(self.from_, 1 << 20)
            if not piece:
                raise EOFError('the browser has ended')
            self.buffer += piece
        text, self.buffer = self.buffer.split(b'\0', 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        request = {'id': self.number, 'method': method, 'params': parameters}
        if self.session:
            request['sessionId'] = self.session
        os.write(self.to, json.dumps(request).encode() + b'\0')
        while True:
            answer = self.message(LIMIT)
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(f'{method}: {answer["error"]}')
                return answer['result']
            if 'method' in answer:
                self.events.append(answer)

    def evaluate(self, expression):
        result = self.call('Runtime.evaluate', expression=expression, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(result['exceptionDetails'])
        return result['result'].get('value')

    def open(self, path, width=1280, height=900, dark=False, mobile=False):
        self.events = []
        self.call('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        self.call('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])
        self.visits += 1  # in the address, so that the page before is not taken for this one
        self.call('Page.navigate', url=f'file://{os.path.abspath(path)}?visit={self.visits}')
        end = time.monotonic() + LIMIT
        while not self.is_ready():
            if time.monotonic() > end:
                raise TimeoutError(f'the page is not ready; {self.complaints()}')
            time.sleep(0.1)
        # Two frames later everything is painted.
        self.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))')

    def is_ready(self):
        try:
            return self.evaluate(f"location.search === '?visit={self.visits}' && document.readyState === 'complete' && "
                                 "document.documentElement.dataset.ready === 'yes'")
        except RuntimeError:  # between two pages
            return False

    def complaints(self):
        """What a console would show in red, and every request for anything but the page itself and data in it."""
        found = []
        for event in self.events:
            method, parameters = event['method'], event['params']
            if method == 'Runtime.exceptionThrown':
                found.append(parameters['exceptionDetails'].get('exception', {}).get('description', 'exception'))
            elif method == 'Runtime.consoleAPICalled' and parameters['type'] in ('error', 'warning', 'assert'):
                found.append(str([a.get('value') for a in parameters['args']]))
            elif method == 'Log.entryAdded' and parameters['entry']['level'] in ('error', 'warning'):
                found.append(parameters['entry']['text'])
            elif method == 'Network.requestWillBeSent' and not parameters['request']['url'].startswith(('file://', 'data:', 'blob:')):
                found.append('request: ' + parameters['request']['url'])
        return found

    def screenshot(self, path, whole=True):
        picture = self.call('Page.captureScreenshot', format='png', captureBeyondViewport=whole)['data']
        with open(path, 'wb') as file:
            file.write(base64.b64decode(picture))

    def close(self):
        try:
            self.session = None
            self.call('Browser.close')
            self.process.wait(timeout=20)
        except Exception:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.home, ignore_errors=True)
