public import Foundation

/// The programs of this package that tests start as processes of their own.
public enum BuiltProgram {
    /// The file of a program: in the folder that the variable `HALCYON_PROGRAMS` names, such as that of a release
    /// build, or beside the tests, where a debug build puts it.
    public static func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    private static let folder: URL = {
        if let path = ProcessInfo.processInfo.environment["HALCYON_PROGRAMS"], !path.isEmpty {
            return URL(fileURLWithPath: path, isDirectory: true).resolvingSymlinksInPath()
        }
        return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent()
    }()
}
